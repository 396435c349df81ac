import { describe, expect, it } from 'vitest';
import { proseIssues } from './support/lint-prose.ts';

describe('npm run prose', () => {
  it.each([
    ['/** What a key is limited to. */', 'without a subject'],
    ['/**\n * Whose key it is.\n */', 'without a subject'],
    ['// Where there is none, nothing happens.', 'without a subject'],
    ['/** Returns null if nobody asked. */', 'nobody'],
    ['const a = 1; // tells the time', 'tells'],
  ])('rejects %j', (source, reason) => {
    expect(proseIssues(source)).toMatchObject([{ reason: expect.stringContaining(reason) }]);
  });

  it.each([
    '/** Returns the limits of a key. */',
    '/**\n * Sends the request to the host\n * that the config names.\n */',
    '/** Reads `thoughts` of a response. */',
    "const text = 'What nobody reads';",
  ])('accepts %j', (source) => {
    expect(proseIssues(source)).toEqual([]);
  });

  it('names the line', () => {
    expect(proseIssues('const a = 1;\n\n// Whether it runs.\n')).toMatchObject([{ line: 3 }]);
  });
});

import { describe, expect, it } from 'vitest';
import { nameIssues, proseIssues, titleIssues } from './support/documents/lint-prose.ts';

describe('npm run prose', () => {
  it.each([
    ['/** What a key is limited to. */', 'without a subject'],
    ['/**\n * Whose key it is.\n */', 'without a subject'],
    ['// Where there is none, nothing happens.', 'without a subject'],
    ['/** Returns null if nobody asked. */', 'nobody'],
    ['const a = 1; // tells the time', 'tells'],
    ['/** The answer of a provider. */', 'answer'],
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

  it('rejects declared names, and no content', () => {
    expect(nameIssues("const text = 'answer';\nconst lastAnswer = 1;\n")).toEqual([
      { line: 2, reason: 'the name "lastAnswer": use the terms of docs/writing.md' },
    ]);
  });

  it('names the line', () => {
    expect(proseIssues('const a = 1;\n\n// Whether it runs.\n')).toMatchObject([{ line: 3 }]);
  });

  it.each([
    ["it('of one that is used up', () => {", 'does not read alone'],
    ["describe('what a key may do', () => {", 'does not read alone'],
    ["  it.each(rows)(\n    'and %s is sent once',", 'does not read alone'],
    ["describe.skipIf(missing)('limits', () => {\n  it(`refuses if nobody asks`, () => {", 'nobody'],
  ])('rejects the title in %j', (source, reason) => {
    expect(titleIssues(source)).toMatchObject([{ line: source.split('\n').length, reason: expect.stringContaining(reason) }]);
  });

  it.each([
    "it('fallback: skips a target whose budget is exhausted', () => {",
    "split('of one', 2);",
    'const text = "what it says";',
  ])('accepts %j', (source) => {
    expect(titleIssues(source)).toEqual([]);
  });
});

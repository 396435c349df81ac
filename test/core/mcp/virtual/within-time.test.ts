import { describe, expect, it } from 'vitest';
import { errorOf, listWithin, reasonOf } from '../../../../core/mcp/virtual/within-time.ts';

describe('the list of a server that takes too long', () => {
  const late = listWithin(new Promise(() => {}), 5).catch((thrown: unknown) => thrown);

  it('is missing for this reason', async () => {
    expect(reasonOf(await late)).toBe('no list within 5 ms');
  });

  it('fails a call with an error that names the server', async () => {
    expect(errorOf(await late, 'issues')).toMatchObject({
      code: 'request_timeout',
      message: 'The MCP server issues sent no list within 5 ms',
    });
  });

  it('does not replace another error', () => {
    const thrown = new Error('other');
    expect(errorOf(thrown, 'issues')).toBe(thrown);
  });
});

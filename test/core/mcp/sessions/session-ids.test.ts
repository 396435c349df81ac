import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSessionIds } from '../../../../core/mcp/sessions/session-id.ts';

const session = { upstream: 'at-the-server', settings: 'fingerprint' };

describe('ids of sessions', () => {
  it('open for the caller and server they were sealed for, in every process with the key', () => {
    const key = randomBytes(32);
    const id = createSessionIds(key).seal('server', 'ada', session);
    const other = createSessionIds(key);
    expect(other.open('server', 'ada', id)).toEqual(session);
    expect(other.open('server', 'ada', id)).toEqual(session);
  });

  it('stay closed for other callers and servers, before and after their owner has opened them', () => {
    const ids = createSessionIds(randomBytes(32));
    const id = ids.seal('server', 'ada', session);
    for (const isOpened of [false, true]) {
      if (isOpened) expect(ids.open('server', 'ada', id)).toEqual(session);
      expect(ids.open('server', 'bob', id)).toBeNull();
      expect(ids.open('other', 'ada', id)).toBeNull();
      expect(ids.open('server', 'ada', `A${id}`)).toBeNull();
    }
    expect(ids.open('server', 'ada', id)).toEqual(session);
  });

  it('open when more are in use than are kept, and when one is too long to be kept', () => {
    const ids = createSessionIds(randomBytes(32));
    const many = Array.from({ length: 1_100 }, (_, at) => ids.seal('server', 'ada', { ...session, upstream: `${at}` }));
    const long = { ...session, upstream: 'x'.repeat(8_000) };
    const longId = ids.seal('server', 'ada', long);
    for (let round = 0; round < 2; round++) {
      for (const [at, id] of many.entries()) expect(ids.open('server', 'ada', id)?.upstream).toBe(`${at}`);
      expect(ids.open('server', 'ada', longId)).toEqual(long);
      expect(ids.open('server', 'bob', longId)).toBeNull();
    }
  });
});

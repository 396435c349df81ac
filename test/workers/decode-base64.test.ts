import { describe, expect, it } from 'vitest';
import { decodeBase64 } from '../../workers/decode-base64.ts';

describe('decodeBase64', () => {
  it('decodes readable texts with any first character', () => {
    const missed: string[] = [];
    for (let code = 0; code < 0xd800; code++) {
      const text = `${String.fromCharCode(code)}ello, world`;
      const isReadable = /^[\t\n\r\x20-\x7e\u00a0-\ud7ff]/.test(text);
      for (const encoding of ['base64', 'base64url'] as const) {
        const run = Buffer.from(text).toString(encoding);
        const expected = isReadable ? [{ text, start: 2, end: 2 + run.length }] : [];
        if (JSON.stringify(decodeBase64(`x ${run} y`)) !== JSON.stringify(expected)) missed.push(`${code} ${encoding}`);
      }
    }
    expect(missed).toEqual([]);
  });

  it('decodes no part of a longer run, and a run after the padding of another', () => {
    const run = Buffer.from('hello, world!').toString('base64');
    expect(decodeBase64(`-${run}`)).toEqual([]);
    expect(decodeBase64(`${run}${run}`).map(({ start }) => start)).toEqual([0, run.length]);
  });
});

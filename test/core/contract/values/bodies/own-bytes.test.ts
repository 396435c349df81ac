import { describe, expect, it } from 'vitest';
import { ownBytes } from '../../../../../core/contract/values/bodies/own-bytes.ts';

describe('ownBytes', () => {
  it('copies a small part of a larger buffer', () => {
    const read = Buffer.from('x'.repeat(9_000));
    const part = read.subarray(10, 15);
    const own = ownBytes(part);
    expect([Buffer.from(own).toString(), own.buffer.byteLength]).toEqual(['xxxxx', 5]);
  });

  it('returns the same bytes if little stays in memory with them', () => {
    const read = Buffer.alloc(9_000);
    const part = read.subarray(0, 8_000);
    expect(ownBytes(part)).toBe(part);
  });
});

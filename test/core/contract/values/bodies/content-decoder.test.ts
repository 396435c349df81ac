import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeBodySync, decodeWhole } from '../../../../../core/contract/values/bodies/content-decoder.ts';

const text = (length: number) => Buffer.from(Array.from({ length }, (_, n) => n.toString(36)).join(' '));
const both = async (bytes: Uint8Array, coding: string, bytesMax = 1_000_000) => {
  const whole = await decodeWhole(bytes, coding, bytesMax);
  const sync = decodeBodySync(bytes, coding, bytesMax);
  expect(sync === null ? null : Buffer.from(sync).toString()).toBe(
    typeof whole === 'string' ? null : Buffer.from(whole).toString(),
  );
  return typeof whole === 'string' ? whole : Buffer.from(whole).toString();
};

describe('whole bodies', () => {
  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ] as const)('in %s are decoded, and refused if they are cut off or too large', async (coding, encode) => {
    const plain = text(20_000);
    const bytes = encode(plain);
    expect(await both(bytes, coding)).toBe(plain.toString());
    for (const end of [5, 60, bytes.length / 2, bytes.length - 1])
      expect(await both(bytes.subarray(0, end), coding)).toBe('damaged');
    expect(await both(bytes, coding, plain.length)).toBe(plain.toString());
    expect(await both(bytes, coding, plain.length - 1)).toBe('too large');
  });

  it('in several frames of zstd are decoded to their end, like several members of gzip', async () => {
    const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
    const frames = [zstdCompressSync('harmless, '), skippable, zstdCompressSync(''), zstdCompressSync('forbidden')];
    expect(await both(Buffer.concat(frames), 'zstd')).toBe('harmless, forbidden');
    expect(await both(Buffer.concat([gzipSync('harmless, '), gzipSync('forbidden')]), 'gzip')).toBe('harmless, forbidden');
    expect(await both(Buffer.concat(frames), 'zstd', 18)).toBe('too large');
    expect(await both(Buffer.concat([...frames, Buffer.from('other bytes')]), 'zstd')).toBe('damaged');
    expect(await both(Buffer.concat(Array.from({ length: 1_001 }, () => zstdCompressSync(''))), 'zstd')).toBe('damaged');
  });
});

import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { contentDecoder, decodeBodySync, decodeWhole } from '../../../../../core/contract/values/bodies/content-decoder.ts';

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

describe('streams in zstd', () => {
  const parts = Array.from({ length: 20 }, (_, n) => text(n === 7 ? 40_000 : n * 20).toString());
  const frames = Buffer.concat(parts.map((part) => zstdCompressSync(part)));
  const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
  const decoded = (bytes: Uint8Array, size: number) => {
    const decoder = contentDecoder('zstd');
    if (decoder === null) throw new Error('zstd has a decoder');
    const whole = buffer(decoder);
    for (let at = 0; at < bytes.length; at += size) decoder.write(bytes.subarray(at, at + size));
    decoder.end();
    return whole.then(String);
  };

  it.each([7, 1_000, 1_000_000])('are decoded with all frames, in chunks of %i bytes', async (size) => {
    expect(await decoded(frames, size)).toBe(parts.join(''));
    expect(await decoded(Buffer.concat([frames, skippable, frames]), size)).toBe(parts.join('') + parts.join(''));
  });

  it('fail behind a frame with other bytes, and with more than 1,000 frames in a chunk', async () => {
    await expect(decoded(Buffer.concat([frames, Buffer.from('other bytes')]), 1_000_000)).rejects.toThrow();
    const empty = Buffer.concat(Array.from({ length: 1_001 }, () => zstdCompressSync('')));
    await expect(decoded(empty, 1_000_000)).rejects.toThrow('more than 1000 frames');
  });

  it.each([7, 1_000_000])('fail if they are cut off, in chunks of %i bytes', async (size) => {
    const random = randomBytes(300);
    const checked = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };
    for (const frame of [zstdCompressSync(text(200)), zstdCompressSync(text(200), checked), zstdCompressSync(random)]) {
      expect(await decoded(frame, size)).toBe(String(zstdDecompressSync(frame)));
      for (let end = 1; end < frame.length; end++) {
        await expect(decoded(frame.subarray(0, end), size), `${end} bytes`).rejects.toThrow();
      }
    }
    const second = Buffer.concat([frames, zstdCompressSync(random)]);
    await expect(decoded(second.subarray(0, -1), size)).rejects.toThrow('The last frame is cut off');
    await expect(decoded(skippable.subarray(0, -1), size)).rejects.toThrow('The last frame is cut off');
  });

  it('fail if they are cut off at any byte of a further frame, and not if a frame ends like the beginning of one', async () => {
    for (const end of [[0x61], [0x28], [0x28, 0xb5], [0x28, 0xb5, 0x2f], [0x50], [0x5f, 0x2a], [0x50, 0x2a, 0x4d]]) {
      const bytes = Buffer.from(end);
      const first = zstdCompressSync(bytes);
      expect(first.subarray(-bytes.length)).toEqual(bytes);
      for (const size of [1, first.length, 1_000]) expect(await decoded(first, size)).toBe(String(bytes));
      for (const next of [zstdCompressSync('next'), skippable]) {
        for (let to = 1; to < next.length; to++) {
          const cut = Buffer.concat([first, next.subarray(0, to)]);
          for (const size of [1, first.length, 1_000])
            await expect(decoded(cut, size)).rejects.toThrow('The last frame is cut off');
        }
      }
    }
  });

  it('pass on what came before the end that is cut off, also to a slow reader, and nothing else', async () => {
    const plain = randomBytes(400_000);
    const decoder = contentDecoder('zstd');
    decoder?.end(zstdCompressSync(plain).subarray(0, -100_000));
    const read: Buffer[] = [];
    const reading = async () => {
      for await (const part of decoder ?? []) {
        read.push(part);
        await turn();
      }
    };
    await expect(reading()).rejects.toThrow('The last frame is cut off');
    const received = Buffer.concat(read);
    expect(received.length).toBeGreaterThan(100_000);
    expect(received.equals(plain.subarray(0, received.length))).toBe(true);
  });

  it('decode no more than is read', async () => {
    const decoder = contentDecoder('zstd');
    decoder?.end(Buffer.concat([zstdCompressSync('small'), zstdCompressSync(Buffer.alloc(20_000_000))]));
    let [length, waitingMax] = [0, 0];
    for await (const part of decoder ?? []) {
      length += part.length;
      waitingMax = Math.max(waitingMax, decoder?.readableLength ?? 0);
      await turn();
    }
    expect(length).toBe(20_000_005);
    expect(waitingMax).toBeLessThan(500_000);
  });
});

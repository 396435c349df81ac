/** Bytes of a larger buffer that may stay in memory with a part of it. */
const spareBytesMax = 512;

/**
 * Returns bytes for a cache, in a buffer of their own. Small buffers of Node share one of 8 KB, and what a socket returns shares one of up to 64 KB: a
 * part that is kept keeps all of it. Returns the same bytes if at most twice their length and 512 bytes stay with them.
 */
export function ownBytes(bytes: Uint8Array): Uint8Array {
  if (bytes.buffer.byteLength <= 2 * bytes.length + spareBytesMax) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}

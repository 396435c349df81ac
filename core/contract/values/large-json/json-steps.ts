import { Buffer } from 'node:buffer';

/** Bytes of JSON that one step parses or writes: about a millisecond of work. */
export const stepBytes = 64 * 1024;
/** Work (`JsonLimits.work`) of parsing or writing a body at once: about a millisecond. */
export const onceWork = 4 * stepBytes;
/** Bytes that one step scans or copies without parsing them. */
export const copyBytes = 16 * stepBytes;

/** A Buffer over the same memory. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

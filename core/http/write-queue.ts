/** Chunks that wait to be written, in order. Holds the caller's chunks. Only small ones are copied, to join them. */
export class WriteQueue {
  bytes = 0;
  private chunks: Uint8Array[] = [];

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.chunks.push(chunk);
    this.bytes += chunk.length;
  }

  /** Returns the next bytes, at most `room` of them: a view of the first chunk, or several small chunks joined. */
  next(room: number): Uint8Array {
    const first = this.chunks[0] as Uint8Array;
    if (first.length >= room) return first.subarray(0, room);
    if (this.chunks.length === 1) return first;
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for (const chunk of this.chunks) {
      const part = chunk.subarray(0, room - bytes);
      parts.push(part);
      bytes += part.length;
      if (bytes === room) break;
    }
    return Buffer.concat(parts, bytes);
  }

  /** Removes this many bytes from the front. */
  take(bytes: number): void {
    this.bytes -= bytes;
    let left = bytes;
    let whole = 0;
    while (left > 0) {
      const first = this.chunks[whole] as Uint8Array;
      if (first.length > left) {
        this.chunks[whole] = first.subarray(left);
        break;
      }
      left -= first.length;
      whole++;
    }
    // To remove the first element of a long array takes linear time.
    if (whole > 0) this.chunks.splice(0, whole);
  }

  clear(): void {
    this.chunks = [];
    this.bytes = 0;
  }
}

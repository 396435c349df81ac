/** The same bytes for the same size in every process, without a period that would hide a lost or repeated part. */
export function patternBytes(size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let state = (size + 1) >>> 0;
  for (let i = 0; i < size; i++) {
    // A linear congruential generator; its upper bits are random enough to compare by.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}

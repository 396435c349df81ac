/** Returns the same bytes for the same size in every process. They have no period that would hide a lost or repeated part. */
export function patternBytes(size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let state = (size + 1) >>> 0;
  for (let i = 0; i < size; i++) {
    // A linear congruential generator, whose upper bits are random enough for comparisons.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}

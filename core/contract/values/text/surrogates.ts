/**
 * True if the UTF-16 unit before `end` is the first half of a surrogate pair, so that the text up to `end` has half a character at its
 * end. False for `end` 0.
 */
export function endsWithHalf(text: string, end: number): boolean {
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xd800 && unit <= 0xdbff;
}

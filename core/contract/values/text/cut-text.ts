import { endsWithHalf } from './surrogates.ts';

/**
 * Returns the first `max` UTF-16 units of a text. Omits half of a surrogate pair at their end, which PostgreSQL cannot hold in JSON. The result is a
 * copy, because a slice keeps the whole text in memory, which may be megabytes of a caller, for as long as a cache has the slice as a key.
 */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  return JSON.parse(JSON.stringify(text.slice(0, endsWithHalf(text, max) ? max - 1 : max)));
}

import { endsWithHalf } from './surrogates.ts';

/** Returns the first `max` UTF-16 units of a text. Omits half of a surrogate pair at their end, which PostgreSQL cannot hold in JSON. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  return text.slice(0, endsWithHalf(text, max) ? max - 1 : max);
}

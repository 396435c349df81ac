import type { JsonObject } from '../../contract/values/json/json.ts';

/**
 * Returns a citation of a web page for `annotations` of a chat completion. `start` and `end` are offsets in the message's text.
 */
export function urlCitation(url: string, title: unknown, start: number, end: number): JsonObject {
  const named = typeof title === 'string' ? title : '';
  return { type: 'url_citation', url_citation: { start_index: start, end_index: end, url, title: named } };
}

/** Returns the first value that is a web address, or null. */
export function webAddressIn(...values: readonly unknown[]): string | null {
  const found = values.find((value) => typeof value === 'string' && /^https?:\/\//i.test(value));
  return found === undefined ? null : String(found);
}

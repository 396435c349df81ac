import { findHeader, type HeaderList } from './http.ts';

/**
 * Returns the retry delay that a server states, in milliseconds from its reply: `retry-after-ms`, `x-ms-retry-after-ms`, then `retry-after`
 * in seconds or as a date (RFC 9110 §10.2.3). Null if there is no readable value.
 */
export function retryAfterMs(headers: HeaderList): number | null {
  for (const name of ['retry-after-ms', 'x-ms-retry-after-ms']) {
    const ms = numberIn(findHeader(headers, name));
    if (ms !== null) return ms;
  }
  const value = findHeader(headers, 'retry-after');
  const seconds = numberIn(value);
  if (seconds !== null) return Math.round(seconds * 1000);
  // `Date.parse` reads `-5` and `1, 2` as days of 2001, which would be retried at once.
  const until = value !== undefined && dateForm.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(until)) return null;
  // Uses the server's clock if its reply has a date, because the gateway's clock may differ.
  const date = Date.parse(findHeader(headers, 'date') ?? '');
  return Math.max(0, until - (Number.isNaN(date) ? Date.now() : date));
}

/** Beginning of a date of HTTP (`Mon, 30 Nov …`) or of ISO 8601, which some servers send. */
const dateForm = /^\s*(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? |\d{4}-\d\d-\d\d)/i;

function numberIn(text: string | undefined): number | null {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null;
}

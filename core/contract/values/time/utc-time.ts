const hasZone = /(?:Z|[+-]\d{2}(?::?\d{2})?)$/i;

/**
 * Returns the milliseconds since the epoch of an ISO 8601 day or time; NaN for other texts. A time without a zone is UTC. `Date.parse` reads
 * it in the zone of the machine.
 */
export function utcMs(text: string): number {
  const iso = text.trim().replace(' ', 'T');
  return Date.parse(iso.length > 10 && !hasZone.test(iso) ? `${iso}Z` : iso);
}

import { invalid } from '../../../http/errors.ts';

/** Largest amount that is accepted: a billion US dollars in nano-dollars is beyond exact integers, a million is not. */
const dollarsMax = 1_000_000;
const tokensMax = 1e15;

/** Returns the UTC day of an ISO 8601 time or a Unix time in seconds. Throws AB01 that names `place`. */
export function toDay(value: unknown, place: string): string {
  const time =
    typeof value === 'number' ? value * 1000 : typeof value === 'string' && startsWithDay.test(value) ? utcMs(value) : Number.NaN;
  const day = new Date(time);
  if (Number.isNaN(day.getTime())) throw invalid(`${place}: a time or day such as 2026-11-23 is expected`);
  return day.toISOString().slice(0, 10);
}

const startsWithDay = /^\d{4}-\d{2}-\d{2}/;

/** Times without a zone are UTC. */
function utcMs(text: string): number {
  const iso = text.replace(' ', 'T');
  return Date.parse(iso.length > 10 && !/(Z|[+-]\d{2}:?\d{2})$/.test(iso) ? `${iso}Z` : iso);
}

/**
 * Returns an amount of money in nano-dollars, rounded. `dollars` is the value of one unit: 0.01 for cents. Credits are negative. Throws AB01
 * that names `place`.
 */
export function toNanoDollars(value: unknown, place: string, dollars = 1): number {
  const amount =
    typeof value === 'number' ? value : typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
  if (!(Math.abs(amount * dollars) <= dollarsMax))
    throw invalid(`${place}: an amount of at most ${dollarsMax} US dollars is expected`);
  return Math.round(amount * dollars * 1e9);
}

/** Throws AB01 unless the currency is the US dollar. */
export function requireDollars(currency: unknown, place: string): void {
  if (typeof currency !== 'string' || currency.toUpperCase() !== 'USD') throw invalid(`${place}: only USD is supported`);
}

/** Returns a number of tokens; null if there is none. Throws AB01 that names `place`. */
export function toTokens(value: unknown, place: string): number | null {
  if (value === null || value === undefined || value === '') return null;
  const count = typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(count) || count < 0 || count > tokensMax) throw invalid(`${place}: a number of tokens is expected`);
  return count;
}

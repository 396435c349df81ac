import { utcMs } from '../../../../core/contract/values/time/utc-time.ts';
import { invalid } from '../../../http/errors.ts';
import { isDay, isReadableYear } from '../../../http/request/schemas.ts';

/** Largest amount that is accepted: a billion US dollars in nano-dollars is beyond exact integers, a million is not. */
const dollarsMax = 1_000_000;
const tokensMax = 1e15;

/** Returns the UTC day of an ISO 8601 time or a Unix time in seconds. Throws AB01 that names `location`. */
export function toDay(value: unknown, location: string): string {
  const time =
    typeof value === 'number' ? value * 1000 : typeof value === 'string' && startsWithDay.test(value) ? utcMs(value) : Number.NaN;
  const day = new Date(time);
  const exists = typeof value !== 'string' || isDay(value.slice(0, 10));
  if (!exists || !isReadableYear(day)) throw invalid(`${location}: ${got(value)}, expected a time or day such as 2026-11-23`);
  return day.toISOString().slice(0, 10);
}

const startsWithDay = /^\d{4}-\d{2}-\d{2}/;

/** Shows a value in an error, cut to a readable length. */
function got(value: unknown): string {
  return value === undefined || value === '' ? 'got nothing' : `got ${JSON.stringify(value).slice(0, 60)}`;
}

/**
 * Returns an amount of money in nano-dollars, rounded. `dollars` is the value of one unit: 0.01 for cents. Credits are negative. Throws AB01
 * that names `location`.
 */
export function toNanoDollars(value: unknown, location: string, dollars = 1): number {
  const amount = toNumber(value);
  if (!(Math.abs(amount * dollars) <= dollarsMax))
    throw invalid(`${location}: ${got(value)}, expected an amount such as 12.5, of at most ${dollarsMax} US dollars`);
  return Math.round(amount * dollars * 1e9);
}

/** Returns NaN for other values, and for spellings that only JavaScript reads, such as `0x10`. */
function toNumber(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && decimal.test(value.trim()) ? Number(value) : Number.NaN;
}

const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Throws AB01 unless the currency is the US dollar. */
export function requireDollars(currency: unknown, location: string): void {
  if (typeof currency !== 'string' || currency.toUpperCase() !== 'USD')
    throw invalid(`${location}: ${got(currency)}, only USD is supported`);
}

/** Returns a number of tokens; null if there is none. Throws AB01 that names `location`. */
export function toTokens(value: unknown, location: string): number | null {
  if (value === null || value === undefined || value === '') return null;
  const count = toNumber(value);
  if (!Number.isSafeInteger(count) || count < 0 || count > tokensMax) {
    throw invalid(`${location}: ${got(value)}, expected a number of tokens such as 1200`);
  }
  return count;
}

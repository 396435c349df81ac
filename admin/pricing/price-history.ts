/** A price and the time from which it applies: an ISO time; null: from the beginning. Value null: no price was saved. */
interface PriceVersion<Value> {
  readonly from: string | null;
  readonly value: Value | null;
}

/** Versions of a price, oldest first. Each applies until the next one begins. */
export type PriceHistory<Value> = readonly PriceVersion<Value>[];

/** Versions that are kept of one price. Beyond this number the oldest is forgotten, and the next one applies from the beginning. */
const versionsMax = 100;

/** Returns the history of a price without a stored history: the value applies at all times. */
export function historyOf<Value>(
  stored: PriceHistory<Value> | null | undefined,
  value: Value | null | undefined,
): PriceHistory<Value> {
  return stored ?? [{ from: null, value: value ?? null }];
}

/** Returns the price at a time; null: none. */
export function priceAt<Value>(history: PriceHistory<Value>, at: Date): Value | null {
  return history.findLast(({ from }) => from === null || Date.parse(from) <= at.getTime())?.value ?? null;
}

/**
 * Returns the history after a change. Without `from`, the new price applies from `now` on, and the first price that is saved at all times. A
 * price replaces the versions that begin at its time or later. The same price without `from` changes nothing.
 */
export function withPrice<Value>(
  history: PriceHistory<Value>,
  value: Value | null,
  { from, now }: { readonly from: string | undefined; readonly now: Date },
): PriceHistory<Value> {
  const last = history.at(-1)?.value ?? null;
  if (from === undefined && isSame(last, value)) return history;
  if (from === undefined && history.every((version) => version.value === null)) return [{ from: null, value }];
  const startMs = from === undefined ? now.getTime() : Date.parse(from);
  const earlier = history.filter((version) => version.from === null || Date.parse(version.from) < startMs);
  const kept = [...earlier, { from: new Date(startMs).toISOString(), value }].slice(-versionsMax);
  return kept.length === versionsMax ? kept.map((version, at) => (at === 0 ? { ...version, from: null } : version)) : kept;
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

/** The database returns members of objects in another order than they were sent in. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => [name, sorted(one)]));
}

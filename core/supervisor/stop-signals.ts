/**
 * Two signals of one kind within this time count as one, because npm repeats to its child the ^C that the terminal sent to both.
 */
const sameWishMs = 500;

export interface SignalSource {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
}

/** Calls `first` on the first SIGINT or SIGTERM and `again` on every later one. */
export function onStopSignals(source: SignalSource, elapsed: () => number, first: () => void, again: () => void): void {
  let last: { signal: string; atMs: number } | null = null;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    source.on(signal, () => {
      const atMs = elapsed();
      if (last === null) first();
      else if (last.signal !== signal || atMs - last.atMs > sameWishMs) again();
      else return;
      last = { signal, atMs };
    });
  }
}

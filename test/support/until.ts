import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';

export interface UntilOptions {
  /** Time limit in milliseconds. Default 30,000. */
  readonly deadlineMs?: number;
  /** The awaited condition, for the message of the failure. A function is called when the wait fails. */
  readonly what?: string | (() => string);
}

/**
 * Calls `condition` repeatedly until it returns something other than false, null or undefined, and returns that. A throw counts
 * as "not yet". The last one is the cause of the failure. This is the only place in the tests that polls. Await an event if there
 * is one.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  options: UntilOptions = {},
): Promise<NonNullable<Exclude<T, false>>> {
  const deadlineMs = options.deadlineMs ?? 30_000;
  const startedAtMs = performance.now();
  let cause: unknown;
  for (let round = 0; ; round++) {
    try {
      const value = await condition();
      if (value !== false && value !== null && value !== undefined) return value as NonNullable<Exclude<T, false>>;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (performance.now() - startedAtMs > deadlineMs) {
      const what = typeof options.what === 'function' ? options.what() : options.what;
      throw new Error(`not within ${deadlineMs} ms: ${what ?? condition.toString()}`, { cause });
    }
    // The first rounds only yield, so that a short wait costs nothing. Later ones leave the cores to others: the wait for a process
    // to start, which takes seconds, would otherwise slow that start down.
    await (round < 20 ? nextTurn() : pause(round < 100 ? 2 : Math.min(round - 80, 100)));
  }
}

/** Returns the result of `promise`. Fails with the name of the awaited condition after `deadlineMs`. */
export async function within<T>(promise: Promise<T>, what: string, deadlineMs = 30_000): Promise<T> {
  const expiry = new AbortController();
  const late = pause(deadlineMs, undefined, { signal: expiry.signal, ref: false }).then(() => {
    throw new Error(`not within ${deadlineMs} ms: ${what}`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    expiry.abort();
  }
}

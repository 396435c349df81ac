import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';

export interface UntilOptions {
  /** How long to keep asking before giving up. Default 10,000. */
  readonly deadlineMs?: number;
  /** The awaited condition, for the message of the failure. */
  readonly what?: string;
}

/**
 * Asks `condition` again and again until it gives something other than false, null or undefined, and returns that. A throw counts
 * as "not yet"; the last one is the cause of the failure. This is the only place in the tests that polls: await an event where
 * there is one.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  options: UntilOptions = {},
): Promise<NonNullable<Exclude<T, false>>> {
  const deadlineMs = options.deadlineMs ?? 10_000;
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
      throw new Error(`not within ${deadlineMs} ms: ${options.what ?? condition.toString()}`, { cause });
    }
    // The first rounds only yield, so that what is nearly there costs nothing; later ones leave the cores to others.
    await (round < 20 ? nextTurn() : pause(round < 100 ? 2 : 20));
  }
}

/** `promise`, or a failure that names what did not happen when it takes longer than `deadlineMs`. */
export async function within<T>(promise: Promise<T>, what: string, deadlineMs = 10_000): Promise<T> {
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

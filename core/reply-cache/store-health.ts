import { reasonOf } from '../contract/values/errors/errors.ts';
import type { Log } from '../contract/values/log/log.ts';
import type { Clock } from '../contract/values/time/clock.ts';

/** Decides whether requests may wait for the shared store. */
export interface StoreHealth {
  /** True if a request may call the store. The caller then calls exactly one of `replied`, `late` and `failed`. */
  admit(): boolean;
  replied(): void;
  /** The store did not reply within CACHE_STORE_TIMEOUT. */
  late(error: unknown): void;
  /** The store replied with an error, or cannot be reached. Background calls may report this without `admit`. */
  failed(error: unknown): void;
}

/** Milliseconds during which the store is not called after a failure. */
const pauseMs = 1_000;
/**
 * Milliseconds without one reply in time until late calls count as a failure. One slow reply must not stop the sharing: under load many
 * calls wait at that moment, so a count of late calls would be reached at once.
 */
const lateMsMax = 500;
/**
 * Milliseconds without a failure until the log has the end of an outage. A store under load fails and replies in turn, which would be two lines
 * a second.
 */
const quietMs = 10_000;

/**
 * Pauses the store for a second after an error, or when all calls of half a second were late. After the pause one request at a time calls it
 * until it replies in time, so that an unavailable store delays one request a second.
 */
export function createStoreHealth(clock: Pick<Clock, 'elapsed'>, log: Pick<Log, 'warn' | 'info'>): StoreHealth {
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  let lateSinceMs: number | null = null;
  let isUnavailable = false;
  let isProbing = false;
  let isLogged = false;
  let failedAtMs = Number.NEGATIVE_INFINITY;

  return {
    admit() {
      if (!isUnavailable) return true;
      if (isProbing || clock.elapsed() < pausedUntilMs) return false;
      isProbing = true;
      return true;
    },
    replied() {
      if (isLogged && clock.elapsed() - failedAtMs >= quietMs) {
        log.info({}, 'the shared cache responds again');
        isLogged = false;
      }
      isUnavailable = false;
      isProbing = false;
      lateSinceMs = null;
    },
    late(error) {
      lateSinceMs ??= clock.elapsed();
      if (isUnavailable || clock.elapsed() - lateSinceMs >= lateMsMax) pause(error);
    },
    failed: pause,
  };

  function pause(error: unknown): void {
    if (!isLogged) log.warn({ reason: reasonOf(error) }, 'the shared cache does not respond; using memory alone');
    isLogged = true;
    isUnavailable = true;
    isProbing = false;
    lateSinceMs = null;
    failedAtMs = clock.elapsed();
    pausedUntilMs = failedAtMs + pauseMs;
  }
}

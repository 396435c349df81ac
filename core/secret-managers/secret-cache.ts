import { LRUCache } from 'lru-cache';
import type { SecretManagerType } from '../contract/protocol/credentials/secret-reference.ts';
import type { Log } from '../contract/values/log/log.ts';
import type { Maybe } from '../contract/values/maybe.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { dayMs } from '../contract/values/time/durations.ts';
import { realTimers } from '../contract/values/time/timers.ts';
import { away, errorOf, type SecretError } from './secret-error.ts';
import type { SecretContent } from './secret-reader.ts';

/** One secret, and the function that reads it. */
export interface Asked {
  /**
   * Key made of everything the content depends on: reference, organisation, revision and path, beginning with the id of the
   * reference.
   */
  readonly name: string;
  readonly manager: SecretManagerType;
  /** Slug of the reference, for the log. */
  readonly slug: string;
  read(): Promise<SecretContent>;
}

export type Outcome = 'ok' | 'away' | 'refused';

export interface SecretCacheOptions {
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Time for which content is used without a new fetch. For the same time after that, it is used while the next one is fetched.
   */
  readonly ttlMs: number;
}

/** Times are monotonic milliseconds. */
interface Entry {
  /** The same object until the manager returns other content. */
  content: SecretContent | null;
  knownAtMs: number;
  /** Error of the last fetch; null if it succeeded. */
  error: SecretError | null;
  /** The next fetch starts no earlier than this. */
  pausedUntilMs: number;
  renewedAtMs: number;
  usedAtMs: number;
  flight: Promise<void> | null;
}

/** Pause after a failed fetch of a secret. */
export const pauseMs = 5_000;
/** Minimum time between two fetches of a value that a provider rejected. */
const renewalMs = 10_000;
/** Time for which a value stays valid while its manager is unreachable. */
const staleMs = dayMs;
/** Time limit of a whole fetch. Identities take several exchanges with limits of their own. */
const fetchMs = 8_000;
const entriesMax = 5_000;
const usedLatelyMs = 60_000;

/**
 * Values of secret managers. Callers share one fetch, values are renewed in the background, and the last value stays valid while
 * a manager is unreachable.
 */
export class SecretCache {
  readonly #options: SecretCacheOptions;
  readonly #entries = new LRUCache<string, Entry>({ max: entriesMax });
  readonly #counts = new Map<SecretManagerType, Record<Outcome, number>>();

  constructor(options: SecretCacheOptions) {
    this.#options = options;
  }

  /** Returns the content or the error. A promise only if a manager must be called; it never rejects. */
  get(asked: Asked): Maybe<SecretContent | SecretError> {
    const entry = this.#entryOf(asked.name);
    const nowMs = this.#options.clock.elapsed();
    entry.usedAtMs = nowMs;
    const ageMs = nowMs - entry.knownAtMs;
    if (entry.content !== null && ageMs < this.#options.ttlMs) return entry.content;
    const mayAsk = entry.flight !== null || nowMs >= entry.pausedUntilMs;
    const isServed = entry.content !== null && (ageMs < 2 * this.#options.ttlMs || this.#isServed(entry));
    if (!mayAsk) return this.#outcomeOf(entry);
    const flight = this.#fetch(asked, entry);
    return isServed ? (entry.content as SecretContent) : flight.then(() => this.#outcomeOf(entry));
  }

  /** Reads the entry again, unless that was done a moment ago or the pause after a failed fetch is not over. */
  async renew(asked: Asked): Promise<void> {
    const entry = this.#entryOf(asked.name);
    const nowMs = this.#options.clock.elapsed();
    if (entry.flight !== null) return entry.flight;
    if (nowMs - entry.renewedAtMs < renewalMs || nowMs < entry.pausedUntilMs) return;
    entry.renewedAtMs = nowMs;
    return this.#fetch(asked, entry);
  }

  /** Reads now. Returns the content or the error of this read. */
  async ask(asked: Asked): Promise<SecretContent | SecretError> {
    const entry = this.#entryOf(asked.name);
    await this.#fetch(asked, entry);
    return entry.error ?? (entry.content as SecretContent);
  }

  counts(): ReadonlyMap<SecretManagerType, Readonly<Record<Outcome, number>>> {
    return this.#counts;
  }

  /** Age of the oldest content used in the last minute, in milliseconds; 0 for none. */
  oldestInUseMs(): number {
    const nowMs = this.#options.clock.elapsed();
    let oldestMs = 0;
    for (const { content, usedAtMs, knownAtMs } of this.#entries.values()) {
      if (content !== null && nowMs - usedAtMs < usedLatelyMs) oldestMs = Math.max(oldestMs, nowMs - knownAtMs);
    }
    return oldestMs;
  }

  #entryOf(name: string): Entry {
    const known = this.#entries.get(name);
    if (known) return known;
    const never = Number.NEGATIVE_INFINITY;
    const times = { knownAtMs: never, pausedUntilMs: never, renewedAtMs: never, usedAtMs: never };
    const entry: Entry = { content: null, error: null, flight: null, ...times };
    this.#entries.set(name, entry);
    return entry;
  }

  #outcomeOf(entry: Entry): SecretContent | SecretError {
    if (entry.content !== null && (entry.error === null || this.#isServed(entry))) return entry.content;
    return entry.error ?? away('not read yet');
  }

  /** True while a stale value is used because its manager is unreachable. */
  #isServed({ error, knownAtMs }: Entry): boolean {
    return error?.isAway === true && this.#options.clock.elapsed() - knownAtMs < staleMs;
  }

  /** Settles when the entry holds content or an error. Never rejects. */
  #fetch(asked: Asked, entry: Entry): Promise<void> {
    entry.flight ??= this.#within(asked.read)
      .then(
        (content) => this.#settle(asked, entry, content),
        (thrown: unknown) => this.#fail(asked, entry, errorOf(thrown)),
      )
      .finally(() => {
        entry.flight = null;
      });
    return entry.flight;
  }

  #settle(asked: Asked, entry: Entry, content: SecretContent): void {
    this.#count(asked, 'ok');
    if (entry.error !== null) this.#options.log.info(fieldsOf(asked), 'reading a secret works again');
    const isSame = entry.content?.kind === content.kind && entry.content.text.reveal() === content.text.reveal();
    if (!isSame) entry.content = content;
    entry.error = null;
    entry.pausedUntilMs = Number.NEGATIVE_INFINITY;
    entry.knownAtMs = this.#options.clock.elapsed();
  }

  #fail(asked: Asked, entry: Entry, error: SecretError): void {
    this.#count(asked, error.isAway ? 'away' : 'refused');
    // Log once per outage: the manager is called repeatedly meanwhile.
    if (entry.error?.isAway !== error.isAway) {
      const isServed = error.isAway && entry.content !== null;
      this.#options.log.warn(
        { ...fieldsOf(asked), reason: error.message, kept: isServed },
        'cannot read a secret from its secret manager',
      );
    }
    entry.error = error;
    entry.pausedUntilMs = this.#options.clock.elapsed() + pauseMs;
    if (!error.isAway) entry.content = null;
  }

  #within(read: Asked['read']): Promise<SecretContent> {
    return new Promise((resolve, reject) => {
      const late = () => reject(away('the secret manager did not reply in time'));
      const cancel = realTimers.after(fetchMs, late);
      // Called in a `then`, so that a synchronous throw becomes a rejection.
      Promise.resolve().then(read).then(resolve, reject).finally(cancel);
    });
  }

  #count({ manager }: Asked, outcome: Outcome): void {
    const counts = this.#counts.get(manager) ?? { ok: 0, away: 0, refused: 0 };
    counts[outcome] += 1;
    this.#counts.set(manager, counts);
  }
}

function fieldsOf({ manager, slug, name }: Asked): { manager: string; reference: string; id: string } {
  return { manager, reference: slug, id: name.split(' ', 1)[0] as string };
}

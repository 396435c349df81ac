import { hash, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { checkJwk } from '../contract/protocol/credentials/key-set.ts';
import type { OrganisationDocument } from '../contract/protocol/documents.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { messageOf } from '../contract/values/errors/message-of.ts';
import type { Log } from '../contract/values/log/log.ts';
import type { Maybe } from '../contract/values/maybe.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { dayMs } from '../contract/values/time/durations.ts';

/** Returns the keys at a URL by `kid`. Rejects if they cannot be read. */
export type FetchKeySet = (url: string) => Promise<ReadonlyMap<string, KeyObject>>;

/** A key set of an organisation at one URL. Times are monotonic milliseconds. */
interface Published {
  readonly organisationId: string;
  keys: ReadonlyMap<string, KeyObject>;
  /** Time of the last reply; null before the first one. */
  knownAtMs: number | null;
  triedAtMs: number;
  /** True if the last attempt failed. */
  failed: boolean;
  flight: Promise<void> | null;
  /** Hashes of `kid`s that a read did not find, oldest first. */
  readonly missing: Set<string>;
  /** Time at which reads for further `kid`s are `earlyMax` again. */
  restedAtMs: number;
}

/** A `kid` that a read did not find triggers a new read of the sets, at most once in this time. */
const refreshMs = 30_000;
/** The same limit for each `kid` while a set was never read, or while its host is unreachable. */
const retryMs = 5_000;
/**
 * A `kid` that was not looked for triggers a read at once, because its key may have been published since the last one. This many such reads may
 * follow each other, and then one per `earlyMs`.
 */
const earlyMax = 6;
const earlyMs = 5_000;
/** Maximum number of remembered `kid`s of a set. */
const missingMax = 64;
/** Sets in use are read again in the background after this time, so that a removed key does not stay valid forever. */
const agedMs = 600_000;
/** Time for which a set stays valid while its host is unreachable. */
const staleMs = dayMs;
const setsMax = 2_000;
/** Maximum concurrent fetches of all organisations together. */
const flightsMax = 64;
/**
 * Above this, an organisation with fetches in progress starts no more, so that unresponsive hosts leave room for the keys of
 * others.
 */
const sharedFlightsMax = 16;

/**
 * The keys with which organisations sign tokens: those in their setting, or those at their URLs, merged in the order of the URLs.
 * Published sets are cached per organisation and URL. Callers share one read, and the last good set stays valid while the host is
 * unreachable.
 */
export class KeySets {
  readonly #fetch: FetchKeySet;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #published = new LRUCache<string, Published>({ max: setsMax });
  readonly #inline = new WeakMap<OrganisationDocument, ReadonlyMap<string, KeyObject>>();
  /** Fetches in progress, by organisation. */
  readonly #flights = new Map<string, number>();
  #flightsInAll = 0;

  constructor(options: { readonly fetch: FetchKeySet; readonly clock: Clock; readonly log: Log }) {
    this.#fetch = options.fetch;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /**
   * Returns the key of this name; null if the organisation does not have it. Throws (or rejects with) GatewayError `unavailable`
   * if that is unknown because a host of keys is unreachable.
   */
  find(organisation: OrganisationDocument, kid: string): Maybe<KeyObject | null> {
    const { urls } = organisation.jwt;
    if (urls.length === 0) return this.#inlineOf(organisation).get(kid) ?? null;
    const sets = urls.map((url) => this.#setOf(organisation.id, url));
    const known = this.#pick(sets, kid);
    if (known !== null) {
      for (const [index, set] of sets.entries()) {
        const isAged = set.flight === null && this.#since(set.triedAtMs) > agedMs;
        if (isAged && this.#hasRoom(set)) void this.#refresh(set, urls[index] as string);
      }
      return known;
    }
    const sha256 = hash('sha256', kid, 'base64');
    const flights = sets.flatMap((set, index) => this.#again(set, urls[index] as string, sha256) ?? []);
    if (flights.length === 0) return this.#settle(sets, kid, sha256);
    return Promise.all(flights).then(() => this.#settle(sets, kid, sha256));
  }

  /** Returns the key, or null if no set has it. Throws `unavailable` if a set could not be read. */
  #settle(sets: readonly Published[], kid: string, sha256: string): KeyObject | null {
    const found = this.#pick(sets, kid);
    if (found !== null) return found;
    if (sets.some((set) => set.failed || set.knownAtMs === null)) throw unreadable(retryMs);
    for (const { missing } of sets) {
      missing.add(sha256);
      if (missing.size > missingMax) missing.delete(missing.values().next().value as string);
    }
    return null;
  }

  #pick(sets: readonly Published[], kid: string): KeyObject | null {
    for (const set of sets) {
      if (set.knownAtMs === null || this.#since(set.knownAtMs) > staleMs) continue;
      const key = set.keys.get(kid);
      if (key) return key;
    }
    return null;
  }

  /** Returns a fetch to wait for, or null if none is due. Throws `unavailable` if one is due that must wait. */
  #again(set: Published, url: string, sha256: string): Promise<void> | null {
    if (set.flight) return set.flight;
    const isUnread = set.knownAtMs === null || set.failed;
    const isEarly = this.#since(set.triedAtMs) < (isUnread ? retryMs : refreshMs);
    if (isEarly && (isUnread || set.missing.has(sha256))) return null;
    const waitMs = isEarly ? earlyMs - earlyMax * earlyMs - this.#since(set.restedAtMs) : 0;
    if (waitMs > 0) throw unreadable(waitMs);
    if (!this.#hasRoom(set)) throw new GatewayError('overloaded', { retryAfterMs: 1_000 });
    if (isEarly) set.restedAtMs = Math.max(set.restedAtMs, this.#clock.elapsed()) + earlyMs;
    return this.#refresh(set, url);
  }

  #hasRoom({ organisationId }: Published): boolean {
    return this.#flightsInAll < (this.#flights.has(organisationId) ? sharedFlightsMax : flightsMax);
  }

  #count(organisationId: string, by: 1 | -1): void {
    const left = (this.#flights.get(organisationId) ?? 0) + by;
    if (left > 0) this.#flights.set(organisationId, left);
    else this.#flights.delete(organisationId);
    this.#flightsInAll += by;
  }

  #refresh(set: Published, url: string): Promise<void> {
    this.#count(set.organisationId, 1);
    set.triedAtMs = this.#clock.elapsed();
    set.flight = this.#fetch(url)
      .then(
        (keys) => {
          set.keys = keys;
          set.knownAtMs = this.#clock.elapsed();
          set.failed = false;
        },
        (error: unknown) => {
          // Log the host only: the rest of the address may hold a secret.
          const host = URL.parse(url)?.host ?? null;
          if (!set.failed) this.#log.warn({ host, reason: messageOf(error) }, 'cannot read the signing keys of an organisation');
          set.failed = true;
        },
      )
      .finally(() => {
        set.flight = null;
        this.#count(set.organisationId, -1);
      });
    return set.flight;
  }

  #setOf(organisationId: string, url: string): Published {
    const name = `${organisationId} ${url}`;
    const known = this.#published.get(name);
    if (known) return known;
    const set: Published = {
      organisationId,
      keys: new Map(),
      knownAtMs: null,
      triedAtMs: Number.NEGATIVE_INFINITY,
      failed: false,
      flight: null,
      missing: new Set(),
      restedAtMs: Number.NEGATIVE_INFINITY,
    };
    this.#published.set(name, set);
    return set;
  }

  #inlineOf(organisation: OrganisationDocument): ReadonlyMap<string, KeyObject> {
    let keys = this.#inline.get(organisation);
    if (!keys) {
      keys = goodKeys(organisation.jwt.keys);
      this.#inline.set(organisation, keys);
    }
    return keys;
  }

  #since(timeMs: number): number {
    return this.#clock.elapsed() - timeMs;
  }
}

function unreadable(retryAfterMs: number): GatewayError {
  return new GatewayError('unavailable', {
    message: 'The signing keys of the organisation cannot be read from jwt.jwks_url. Try again shortly',
    retryAfterMs,
  });
}

/** Returns the usable keys of a set, the first of each `kid`. Sets also hold keys for other purposes. */
export function goodKeys(jwks: readonly unknown[]): Map<string, KeyObject> {
  const keys = new Map<string, KeyObject>();
  for (const one of jwks) {
    const check = checkJwk(one);
    if (check.ok && !keys.has(check.jwk.kid)) keys.set(check.jwk.kid, check.key);
  }
  return keys;
}

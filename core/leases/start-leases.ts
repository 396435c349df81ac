import * as v from 'valibot';
import { type InternalFetch, internalPaths } from '../contract/protocol/internal-api.ts';
import {
  type LeaseAsk,
  type Leases,
  type LimitSpec,
  leasesReply,
  type RecallNotice,
} from '../contract/protocol/limits/leases.ts';
import type { NoticeChannel } from '../contract/protocol/notices/notice-channel.ts';
import { reasonOf } from '../contract/values/errors/errors.ts';
import type { Log } from '../contract/values/log/log.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { realTimers, type Timers } from '../contract/values/time/timers.ts';
import { Account } from './account.ts';
import type { Holders } from './holders.ts';
import { createPriceBook } from './price-book.ts';
import { createRecall } from './recall.ts';
import { startEarlierRelease } from './release-earlier.ts';

export interface LeasesOptions {
  readonly fetch: InternalFetch;
  readonly clock: Clock;
  readonly log: Log;
  /** Random UUID. */
  readonly newId: () => string;
  readonly timers?: Timers;
  /** The id of this process in the ledger, and those of its predecessors. */
  readonly holders: Holders;
  /** True when the control plane has stored all records of earlier processes. */
  readonly earlierRecordsAreIn: () => boolean;
  /** Channels to the other gateway processes. Absent: there are none. */
  readonly channels?: readonly NoticeChannel<RecallNotice>[];
}

export interface LeaseClient extends Leases {
  readonly counts: { readonly asks: number; readonly failures: number; readonly accounts: number };
  /** Returns all units to the ledger. Units that cannot be returned expire. */
  close(): Promise<void>;
}

/**
 * A caller waits for this reply, so the limit is short. Without a reply, the limit's own policy for outages applies. A busy machine needs
 * more than a second.
 */
const timeoutMs = 2_500;
/**
 * After a failure no request is sent for this time, or for as long as the failure took, and callers get `unavailable` at once. A control
 * plane that has replied to another request meanwhile is only slow, so there is no pause.
 */
const pauseMs = 500;
const tickMs = 1_000;
/**
 * Time after which unused units are returned, and the same for budgets of which more is free in the ledger than this process holds: other
 * processes can recall them.
 */
const idleMs = { scarce: 1_000, plentiful: 10_000 } as const;
/** Accounts unused for this long are removed. */
const forgetMs = 600_000;
/** The same while there are more accounts than `accountsMax`: groups of policies may have any number of values. */
const forgetEarlyMs = 10_000;
const accountsMax = 20_000;
const asksMax = 1_000;
/**
 * Maximum number of requests on their way. Further asks go with the next one: the ledger takes about as long for twenty as for one, and
 * requests of one ask each wait for each other in the database.
 */
const inFlightMax = 2;
const decoder = new TextDecoder('utf-8', { fatal: true });
const outageText =
  'cannot request limits from the control plane; calls use the units that this process holds, then on_unavailable of each limit decides';

/** Starts the accounts of this process, and the exchange with the ledger that they share. */
export function startLeases(options: LeasesOptions): LeaseClient {
  const { fetch, clock, log, newId, timers = realTimers, holders } = options;
  const accounts = new Map<string, Account>();
  const asking = new Set<Account>();
  /** Accounts that send another ask after the reply to their current one. */
  const again = new Set<Account>();
  /** Removed accounts that meters may still hold. A limit has one account, because the ledger rejects two asks about one limit. */
  const removed = new Map<string, WeakRef<Account>>();
  const collected = new FinalizationRegistry<string>((key) => {
    if (removed.get(key)?.deref() === undefined) removed.delete(key);
  });
  const counts = {
    asks: 0,
    failures: 0,
    get accounts() {
      return accounts.size;
    },
  };
  const prices = createPriceBook(fetch, clock);
  let flushing = false;
  let inFlight = 0;
  let pausedUntilMs = 0;
  let repliedAtMs = Number.NEGATIVE_INFINITY;
  /** The failed requests since the ledger last replied to one that was sent after a failure. */
  const outage = { failures: 0, failedAtMs: Number.NEGATIVE_INFINITY };
  let closed = false;
  let cancelTick = timers.after(tickMs, tick);
  const earlierRelease = startEarlierRelease({
    ...{ holders, isDue: options.earlierRecordsAreIn, timers, log },
    release: (ended) => exchange([], ended),
  });
  const recall = createRecall(options.channels ?? [], (key) => accounts.get(key)?.recall());

  return {
    counts,
    rates: prices,
    account(spec: LimitSpec) {
      let account = accounts.get(spec.key) ?? removed.get(spec.key)?.deref();
      if (account) account.spec = spec;
      else account = new Account(spec, { clock, newId, wake, recall: ({ key }) => recall.send(key) });
      enter(account);
      return account;
    },
    async close() {
      closed = true;
      cancelTick();
      earlierRelease.close();
      recall.close();
      const giving = [...accounts.values()].filter((account) => account.giveBack() || account.isUnreported);
      for (let at = 0; at < giving.length; at += asksMax) await send(giving.slice(at, at + asksMax));
    },
  };

  /**
   * The asks of one turn of the event loop, and those that come while `inFlightMax` requests are on their way, are sent together. An
   * account has one question at a time: the ledger takes the units that a question states as all units of the lease, so a second one would
   * return what the first is being granted.
   */
  function wake(account: Account, delayMs: number): void {
    if (delayMs > 0) {
      timers.after(delayMs, () => closed || wake(account, 0));
      return;
    }
    if (account.asking) {
      again.add(account);
      return;
    }
    enter(account);
    asking.add(account);
    flushSoon();
  }

  /** Adds an account that is new, or that was removed and is used again. */
  function enter(account: Account): void {
    if (accounts.has(account.key)) return;
    accounts.set(account.key, account);
    removed.delete(account.key);
  }

  function remove(account: Account): void {
    accounts.delete(account.key);
    removed.set(account.key, new WeakRef(account));
    collected.register(account, account.key);
  }

  function flushSoon(): void {
    if (flushing || asking.size === 0) return;
    flushing = true;
    setImmediate(flush);
  }

  function flush(): void {
    flushing = false;
    const due = [...asking];
    asking.clear();
    for (let at = 0; at < due.length; at += asksMax) {
      const some = due.slice(at, at + asksMax);
      if (inFlight >= inFlightMax) {
        for (const account of some) asking.add(account);
        continue;
      }
      inFlight++;
      void send(some).finally(() => {
        inFlight--;
        flushSoon();
      });
    }
  }

  async function send(due: readonly Account[]): Promise<void> {
    const askedAtMs = clock.elapsed();
    if (askedAtMs < pausedUntilMs) {
      for (const account of due) account.failed();
      return;
    }
    counts.asks++;
    try {
      const asks = due.map((account) => account.question());
      const grants = new Map((await exchange(asks)).map((grant) => [grant.key, grant]));
      pausedUntilMs = 0;
      repliedAtMs = clock.elapsed();
      if (askedAtMs >= outage.failedAtMs) endOutage();
      for (const account of due) {
        const grant = grants.get(account.key);
        if (grant) account.granted(grant);
        else account.failed();
        askAgain(account);
      }
    } catch (error) {
      counts.failures++;
      const isSlow = repliedAtMs > askedAtMs;
      const nowMs = clock.elapsed();
      outage.failedAtMs = nowMs;
      if (outage.failures++ === 0) log.warn({ reason: reasonOf(error) }, outageText);
      if (!isSlow) pausedUntilMs = nowMs + Math.max(pauseMs, nowMs - askedAtMs);
      for (const account of due) {
        account.failed(isSlow);
        askAgain(account);
      }
    }
  }

  function endOutage(): void {
    if (outage.failures > 0) log.info({ failures: outage.failures }, 'requesting limits works again');
    outage.failures = 0;
  }

  function askAgain(account: Account): void {
    if (again.delete(account) && !closed) wake(account, 0);
  }

  async function exchange(asks: readonly LeaseAsk[], endedHolders: readonly string[] = []) {
    const body = Buffer.from(JSON.stringify({ holder: holders.own, asks, endedHolders }));
    const reply = await fetch('POST', internalPaths.leases, body, timeoutMs);
    if (reply.status !== 200) throw new Error(`the control plane replied with ${reply.status}`);
    return v.parse(leasesReply, JSON.parse(decoder.decode(reply.body))).grants;
  }

  /** Renews leases in use, and returns those that were unused for a time. */
  function tick(): void {
    if (closed) return;
    const nowMs = clock.elapsed();
    const unusedMs = accounts.size > accountsMax ? forgetEarlyMs : forgetMs;
    for (const account of accounts.values()) {
      if (account.asking || account.hasWaiters) continue;
      const unusedForMs = nowMs - account.usedAtMs;
      const isIdle = unusedForMs > (account.isPlentiful && accounts.size <= accountsMax ? idleMs.plentiful : idleMs.scarce);
      if ((isIdle && account.giveBack()) || account.isUnreported || account.hasRefusal || account.isAgeing()) wake(account, 0);
      else if (unusedForMs > unusedMs && !account.isNeeded) remove(account);
    }
    cancelTick = timers.after(tickMs, tick);
  }
}

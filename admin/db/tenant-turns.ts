import type { AbstractSqlConnection } from '@mikro-orm/postgresql';
import { createFairQueue } from '../../core/contract/values/sharing/fair-queue.ts';
import { FairShares } from '../../core/contract/values/sharing/fair-shares.ts';
import { realTimers, type Timers } from '../../core/contract/values/time/timers.ts';
import { tenantOf } from './row-level-security.ts';

/** Requests of an organisation hold its share of the connections, and none became free in time. */
export class ConnectionsBusy extends Error {}

interface Waiting {
  readonly owner: string;
  readonly start: () => void;
}

/** Places that organisations use in turns. One of them cannot use them all, unless there is only one. */
class TenantTurns {
  readonly #places: number;
  readonly #waitMs: number;
  readonly #timers: Timers;
  readonly #shares = new FairShares();
  readonly #waiting = createFairQueue<Waiting>();
  #used = 0;

  constructor(places: number, waitMs: number, timers: Timers = realTimers) {
    this.#places = places;
    this.#waitMs = waitMs;
    this.#timers = timers;
  }

  /** Runs work that needs a place. Rejects with ConnectionsBusy if the organisation has none within `waitMs`. */
  async run<Result>(owner: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#waiting.has(owner) || this.#isFull(owner)) await this.#turn(owner);
    else this.#take(owner);
    try {
      return await work();
    } finally {
      this.#used--;
      this.#shares.add(owner, -1);
      this.#startNext();
    }
  }

  #isFull(owner: string): boolean {
    return this.#used >= this.#places || this.#shares.exceeds(owner, 1, this.#places - this.#used);
  }

  #take(owner: string): void {
    this.#used++;
    this.#shares.add(owner, 1);
  }

  #turn(owner: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const stopTimer = this.#timers.after(this.#waitMs, () => {
        this.#waiting.remove(waiting);
        reject(new ConnectionsBusy('the requests of an organisation hold its share of the database connections'));
      });
      const start = (): void => {
        stopTimer();
        resolve();
      };
      const waiting: Waiting = { owner, start };
      this.#waiting.add(waiting);
    });
  }

  #startNext(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      this.#waiting.take(next);
      this.#take(next.owner);
      next.start();
    }
  }

  #next(): Waiting | undefined {
    return this.#waiting.length === 0 ? undefined : this.#waiting.peek(({ owner }) => this.#isFull(owner));
  }
}

/**
 * Lets the statements and transactions of organisations use at most three quarters of the pool, in turns, so that slow searches of one do not
 * hold up those of others, gateways, sign-ins and jobs.
 */
export function takeTurns(connection: AbstractSqlConnection, poolSize: number, waitMs: number): void {
  const turns = new TenantTurns(Math.max(1, Math.floor(poolSize * 0.75)), waitMs);
  const transactional = connection.transactional.bind(connection);
  connection.transactional = (work, options = {}) => {
    const owner = tenantOf(options.sessionContext?.variables);
    // A transaction in another one has a place already.
    if (owner === null || options.ctx) return transactional(work, options);
    return turns.run(owner, () => transactional(work, options));
  };
}

import { LRUCache } from 'lru-cache';
import type { DocumentReader } from '../contract/plugin/plugin.ts';
import type { TokenAsk, TokenRefusal, TokenUse } from '../contract/protocol/credentials/tokens.ts';
import type { OrganisationDocument } from '../contract/protocol/documents.ts';
import { type InternalFetch, internalPaths } from '../contract/protocol/internal-api.ts';
import type { GatewayError } from '../contract/values/errors/errors.ts';
import { reasonOf } from '../contract/values/errors/errors.ts';
import type { Log } from '../contract/values/log/log.ts';
import { isPromise } from '../contract/values/maybe.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { describeToken } from './read-token.ts';

export interface RefusalsOptions {
  readonly documents: DocumentReader;
  readonly fetch: InternalFetch;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds between two reports, and the time during which the same refusal is reported once. */
const reportEveryMs = 2_000;
const onceEveryMs = 60_000;
/** Maximum number of different refusals that wait. Further ones are dropped. */
const waitingMax = 500;
const perCallMax = 200;
const timeoutMs = 3_000;

interface Waiting {
  readonly refusal: Omit<TokenRefusal, 'count'>;
  count: number;
  readonly dueAtMs: number;
}

/**
 * Reports rejected JWTs to the control plane, for the audit trail of the organisation they name. To avoid a flood of entries, the
 * same reason from the same address is one entry a minute, with a count. Organisations without JWT authentication, and
 * organisations that are not in memory, get no entries.
 */
export class Refusals {
  readonly #options: RefusalsOptions;
  readonly #waiting = new Map<string, Waiting>();
  /** Time of the last report of each refusal. */
  readonly #reportedMs = new LRUCache<string, number>({ max: 5_000 });
  readonly #timer: NodeJS.Timeout;
  #reporting: Promise<void> | null = null;

  constructor(options: RefusalsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.report(), reportEveryMs).unref();
  }

  note(ask: TokenAsk, error: GatewayError, use: TokenUse): void {
    if (error.status !== 401 && error.status !== 403) return;
    const { organisationId, kid, subject } = describeToken(ask.token);
    if (organisationId === null || !this.#takesTokens(organisationId)) return;
    const name = `${organisationId} ${error.code} ${error.message} ${ask.clientAddress}`;
    const waiting = this.#waiting.get(name);
    if (waiting) {
      waiting.count += 1;
      return;
    }
    if (this.#waiting.size >= waitingMax) return;
    const reportedMs = this.#reportedMs.get(name) ?? Number.NEGATIVE_INFINITY;
    const refusal = {
      organisationId,
      status: error.status as 401 | 403,
      code: error.code,
      reason: error.message.slice(0, 500),
      subject,
      kid,
      method: use.method.slice(0, 20),
      path: use.path.slice(0, 2_048),
      requestId: use.requestId.slice(0, 100),
      clientAddress: ask.clientAddress.slice(0, 100),
    };
    this.#waiting.set(name, { refusal, count: 1, dueAtMs: reportedMs + onceEveryMs });
  }

  /**
   * Reports the refusals that are due; `all`: also those that are not due yet. Never rejects: failed reports are sent again
   * later.
   */
  report(all = false): Promise<void> {
    this.#reporting ??= this.#send(all).finally(() => {
      this.#reporting = null;
    });
    return this.#reporting;
  }

  /** Sends all waiting refusals a last time. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reporting;
    await this.report(true);
  }

  #takesTokens(organisationId: string): boolean {
    const document = this.#options.documents.get('organisation', organisationId);
    if (!isPromise<OrganisationDocument | null>(document)) return document !== null;
    document.catch(() => undefined);
    return false;
  }

  async #send(all: boolean): Promise<void> {
    const { fetch, clock, log } = this.#options;
    const nowMs = clock.elapsed();
    const due = [...this.#waiting].filter(([, one]) => all || one.dueAtMs <= nowMs).slice(0, perCallMax);
    if (due.length === 0) return;
    for (const [name] of due) this.#waiting.delete(name);
    const refusals: TokenRefusal[] = due.map(([, { refusal, count }]) => ({ ...refusal, count }));
    try {
      const { status } = await fetch('POST', internalPaths.tokenRefusals, Buffer.from(JSON.stringify({ refusals })), timeoutMs);
      if (status !== 200) throw new Error(`status ${status}`);
      for (const [name] of due) this.#reportedMs.set(name, nowMs);
    } catch (error) {
      log.debug({ reason: reasonOf(error) }, 'rejected tokens could not be reported yet');
      for (const [name, one] of due) {
        const since = this.#waiting.get(name);
        if (since) since.count += one.count;
        else if (this.#waiting.size < waitingMax) this.#waiting.set(name, one);
      }
    }
  }
}

import * as v from 'valibot';
import type { DocumentKind } from '../contract/protocol/documents.ts';
import {
  type ChangesReply,
  changesReply,
  type DocumentReply,
  documentReply,
  type InternalFetch,
  internalPaths,
  keysPerCallMax,
  keysReply,
} from '../contract/protocol/internal-api.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import type { Log } from '../contract/values/log/log.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { realTimers, type Timers } from '../contract/values/time/timers.ts';
import { createBreaker, probeTimeoutMs } from './control-plane-breaker.ts';
import { createKeyLookUps } from './key-look-ups.ts';

/** The reading half of the internal API. Every failure is a GatewayError `unavailable`. */
export interface ControlPlaneClient {
  /** `mayWait`: while the control plane is unreachable, waits for the next trial call instead of failing at once. Default false. */
  document(kind: DocumentKind, id: string, mayWait?: boolean): Promise<DocumentReply>;
  /** `mark` of an earlier reply. Null: unknown. */
  changes(after: number, mark: string | null): Promise<ChangesReply>;
  /** Milliseconds for which calls are rejected without being sent. 0: calls are sent. */
  waitMs(): number;
}

export interface ControlPlaneClientOptions {
  readonly fetch: InternalFetch;
  readonly clock: Clock;
  readonly timers?: Timers;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
  readonly log: Log;
  /** Time limit of a call in milliseconds. Default 3,000. */
  readonly timeoutMs?: number | undefined;
}

/**
 * The longest wait of a look-up for the next trial call. It exceeds the longest pause, so that a request that arrives after the control
 * plane is back is served.
 */
const patienceMs = 1000;
/** Maximum number of such waiting look-ups, so that unknown keys do not fill a gateway during an outage. */
const waitingMax = 100;
/** A kept-alive socket that the control plane has just closed fails at once. Only such a quick failure is retried. */
const quickFailureMs = 200;
const silent = 'the control plane did not reply a moment ago';
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Client of the internal API with a breaker. After a failure nothing is sent for a jittered, growing pause (at most 500 ms). Then
 * one call at a time is sent until one succeeds. Look-ups that may wait are sent after it. All other calls are rejected at once.
 */
export function createControlPlaneClient(options: ControlPlaneClientOptions): ControlPlaneClient {
  const { fetch, clock, timers = realTimers, random, log, timeoutMs = 3000 } = options;
  let lastStatus = 200;
  let waiting = 0;
  const breaker = createBreaker({ clock, timers, random, log });

  const one = (kind: DocumentKind, id: string, mayWait: boolean) =>
    call(`${internalPaths.documents}/${kind}/${encodeURIComponent(id)}`, documentReply, { mayWait });
  const lookUpKey = createKeyLookUps(
    { one: (id, mayWait) => one('api-key', id, mayWait), several: keys, isAway: () => breaker.waitMs() > 0 },
    clock,
    timers,
    keysPerCallMax,
  );

  return {
    async document(kind, id, mayWait = false) {
      const isAway = breaker.waitMs() > 0;
      if (isAway && (!mayWait || waiting === waitingMax)) throw away(silent);
      if (isAway) waiting += 1;
      try {
        return await (kind === 'api-key' ? lookUpKey(id, mayWait) : one(kind, id, mayWait));
      } finally {
        if (isAway) waiting -= 1;
      }
    },
    changes: (after, mark) =>
      call(`${internalPaths.changes}?after=${after}${mark === null ? '' : `&mark=${mark}`}`, changesReply, {}),
    waitMs: breaker.waitMs,
  };

  async function keys(ids: readonly string[], mayWait: boolean): Promise<DocumentReply[]> {
    const { revision, documents } = await call(internalPaths.keys, keysReply, { question: { ids }, mayWait });
    if (documents.length !== ids.length) throw away('the control plane replied with other keys than requested');
    return documents.map((document) => ({ revision, document }));
  }

  /** `question` is sent as JSON. */
  async function call<Schema extends v.GenericSchema>(
    path: string,
    schema: Schema,
    { question = null, mayWait = false }: { readonly question?: object | null; readonly mayWait?: boolean },
  ): Promise<v.InferOutput<Schema>> {
    const endMs = clock.elapsed() + (mayWait ? patienceMs : 0);
    // Nothing may be awaited between the last check and `begin`: only one of the waiting calls becomes the probe.
    while (breaker.waitMs() > 0) {
      const leftMs = endMs - clock.elapsed();
      if (leftMs <= 0) throw away(silent);
      await breaker.endOfPause(Math.min(breaker.waitMs(), leftMs));
    }
    const probing = breaker.begin();
    const reply = await send(path, question, probing).catch((cause: unknown) => {
      breaker.failed(cause, probing);
      throw away('the control plane cannot be reached', cause);
    });
    if (reply.status === 502 || reply.status === 503 || reply.status === 504) {
      const refusal = `the control plane replied with ${reply.status}`;
      breaker.failed(new Error(refusal), probing);
      throw away(refusal);
    }
    // The control plane has responded. An error now concerns this request only and must not block the others.
    breaker.succeeded();
    // A wrong cluster key shows only here. It is logged once, not for every request.
    if (reply.status !== 200 && reply.status !== lastStatus) log.error({ status: reply.status, path }, refusalText(reply.status));
    lastStatus = reply.status;
    if (reply.status !== 200) throw away(`the control plane replied with ${reply.status} to ${path}`);
    return read(reply.body, schema, path);
  }

  async function send(path: string, question: object | null, probing: boolean) {
    const beganMs = clock.elapsed();
    const body = question && encoder.encode(JSON.stringify(question));
    const ask = (deadlineMs: number) => fetch(body ? 'POST' : 'GET', path, body, deadlineMs);
    try {
      return await ask(probing ? probeTimeoutMs : timeoutMs);
    } catch (error) {
      if (probing || clock.elapsed() - beganMs > quickFailureMs) throw error;
      return await ask(timeoutMs);
    }
  }

  function away(detail: string, cause?: unknown): GatewayError {
    return new GatewayError('unavailable', {
      message: 'The control plane cannot be reached, so this API key or setting cannot be loaded. Try again shortly',
      detail,
      cause,
      retryAfterMs: Math.max(1000, Math.ceil(breaker.waitMs())),
    });
  }

  function read<Schema extends v.GenericSchema>(body: Uint8Array, schema: Schema, path: string): v.InferOutput<Schema> {
    try {
      return v.parse(schema, JSON.parse(decoder.decode(body)));
    } catch (cause) {
      throw away(`the reply of the control plane to ${path} cannot be read`, cause);
    }
  }
}

function refusalText(status: number): string {
  if (status !== 401) return 'the control plane rejected a look-up';
  return 'the control plane rejected a look-up: CLUSTER_KEY does not match the control plane';
}

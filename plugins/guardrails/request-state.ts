import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { CoreServices } from '../../core/contract/plugin/core-plugin.ts';
import type { AttemptResponse, Reply, Slot } from '../../core/contract/plugin/plugin.ts';
import type { ChunkList } from '../../core/contract/values/bodies/chunk-list.ts';
import type { JsonObject } from '../../core/contract/values/json/json.ts';
import { isPromise } from '../../core/contract/values/maybe.ts';
import type { Clock } from '../../core/contract/values/time/clock.ts';
import type { BatchGuard } from './batch-guard.ts';
import type { Guardrail } from './compile.ts';
import { denialText, deniedResults, isDenied, recordResults } from './hook-results.ts';
import { type BodyFacts, type GuardrailResult, runGuardrails } from './run.ts';
import type { SessionGuard } from './session/session-guard.ts';
import { softDenialOf } from './soft-denial.ts';
import type { StreamWindow } from './window/stream-window.ts';

/** Guardrails of one request so far. */
export interface State {
  /** Target that the input guardrails ran for; null: they ran once for all targets, or not yet. */
  targetIndex: number | null;
  /** The model that guardrails judged before a target was chosen, and their results; null: there are none. */
  shared: { readonly model: string | null; readonly results: readonly GuardrailResult[] } | null;
  /** Start hooks. Results of the request begin with them. */
  start: readonly GuardrailResult[];
  before: readonly GuardrailResult[];
  after: readonly GuardrailResult[];
  /** The request before the guardrails of a target changed it. */
  request: { readonly params: JsonObject | null; readonly bodyChanged: boolean };
  /** True if the reply is a denial, which shows its results already. */
  isDenied: boolean;
  /** True if the client is to receive the denial as a message of the assistant. */
  isSoft: boolean;
  /** True until the results were added to the body of the reply. */
  showsResults: boolean;
  /** Event with the results of the request, to be sent before the first event of a stream. */
  firstEvent: string | null;
  /** Member of the first event of a stream; null if there is none or it was sent. */
  firstMember: string | null;
  /** Event with the results of the response, to be sent after the last event of a held stream. */
  lastEvent: string | null;
  /** True if the results of the response are sent after the last event of its stream. */
  showsEnd: boolean;
  /** A stream that is not held, for guardrails that run when it has ended. */
  observed: Observed | null;
  /** A stream that is decided in a window. */
  windowed: StreamWindow | null;
  /** The guard of the lines of a batch; null for all other requests. */
  batch: BatchGuard | null;
  /** Null until a session has its first message. */
  session: SessionGuard | null;
  /** True once the record is being written. */
  isClosed: boolean;
}

/** A stream that is sent as it arrives and checked at its end. */
export interface Observed {
  readonly chunks: ChunkList;
  bytes: number;
  readonly headers: AttemptResponse['headers'];
  readonly output: readonly Guardrail[];
  readonly targetPath: string;
}

/** Maximum bytes of a stream that are collected for guardrails that only observe. */
export const observedBytesMax = 4 * 1024 * 1024;

/** The guardrails of all requests of one config, and their records. */
export class RequestStates {
  readonly #services: CoreServices;
  readonly #slot: Slot<State>;

  constructor(services: CoreServices) {
    this.#services = services;
    this.#slot = services.slot();
  }

  /** Returns the state of a request for which guardrails have run; undefined if none have. */
  known(ctx: RequestContext): State | undefined {
    return this.#slot.get(ctx);
  }

  of(ctx: RequestContext): State {
    let state = this.known(ctx);
    if (!state) {
      const request = { params: ctx.params, bodyChanged: ctx.bodyChanged };
      state = {
        targetIndex: null,
        shared: null,
        start: [],
        before: [],
        after: [],
        request,
        isDenied: false,
        isSoft: false,
        showsResults: false,
        firstEvent: null,
        firstMember: null,
        lastEvent: null,
        showsEnd: false,
        observed: null,
        windowed: null,
        batch: null,
        session: null,
        isClosed: false,
      };
      this.#slot.set(ctx, state);
    }
    return state;
  }

  /** Runs guardrails that nothing waits for. Results that come after the record was written are logged. */
  runLater(
    ctx: RequestContext,
    guardrails: readonly Guardrail[],
    body: JsonObject | null,
    targetPath: string | null,
    facts?: BodyFacts,
  ): void {
    if (guardrails.length === 0) return;
    const done = runGuardrails(guardrails, ctx, body, this.#services.clock, facts);
    if (isPromise(done)) void done.then(({ results }) => this.record(ctx, results, targetPath));
    else this.record(ctx, done.results, targetPath);
  }

  record(ctx: RequestContext, results: readonly GuardrailResult[], targetPath: string | null): void {
    if (!this.of(ctx).isClosed) return recordResults(ctx, results, targetPath);
    for (const { guardrail, verdict } of results) {
      this.#services.log.info(
        { requestId: ctx.id, guardrail: guardrail.id, side: guardrail.side, verdict },
        'an asynchronous guardrail ended after the reply',
      );
    }
  }
}

/** Sets the state of a denial. */
export function deny(state: State, results: readonly GuardrailResult[]): void {
  state.isDenied = true;
  state.isSoft = results.filter(isDenied).every(({ guardrail }) => guardrail.softDeny);
}

/** Returns true if a guardrail failed without a denial. */
export function hasFailed({ before, after }: State): boolean {
  return before.some(({ verdict }) => !verdict) || after.some(({ verdict }) => !verdict);
}

/** Returns the denial as a message of the assistant; undefined if the config or the route has none. */
export function softReplyOf(ctx: RequestContext, state: State, clock: Clock): Reply | undefined {
  if (!state.isSoft) return undefined;
  const text = denialText([...state.before, ...state.after]);
  return softDenialOf(ctx, text, deniedResults(state), clock.now()) ?? undefined;
}

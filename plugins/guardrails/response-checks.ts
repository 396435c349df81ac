import type { Outcome, RequestContext } from '../../core/contract/plugin/context.ts';
import type { CoreServices, ProviderErrorReply } from '../../core/contract/plugin/core-plugin.ts';
import { hooksFailed } from '../../core/contract/plugin/guardrails/hooks-failed.ts';
import type { Target } from '../../core/contract/plugin/plan.ts';
import type { AttemptResponse, Verdict } from '../../core/contract/plugin/plugin.ts';
import { ChunkList } from '../../core/contract/values/bodies/chunk-list.ts';
import { GatewayError } from '../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../core/contract/values/json/json.ts';
import { after, type Maybe } from '../../core/contract/values/maybe.ts';
import type { Guardrail } from './compile.ts';
import { type Compiled, noGuardrails } from './guardrail-lists.ts';
import { denialOf, denialText, isDenied, mayDeny, resultsEvent } from './hook-results.ts';
import { readPassedReply } from './passed-reply.ts';
import { type ReadBody, readBody } from './read-body.ts';
import { deny, hasFailed, observedBytesMax, type RequestStates, type State } from './request-state.ts';
import { type GuardrailResult, runGuardrails } from './run.ts';
import { softEndOf } from './soft-denial.ts';
import { hasText, repliesWithMessages } from './texts.ts';
import { StreamWindow } from './window/stream-window.ts';
import { windowChecks, windowResults } from './window/window-checks.ts';

/** Runs the guardrails of responses: whole ones, streams in a window, and streams that are only observed. */
export class ResponseChecks {
  readonly #compiled: readonly Compiled[];
  /** Guardrails of each target that judge errors of its provider. */
  readonly #ofErrors: readonly (readonly Guardrail[])[];
  readonly #services: CoreServices;
  readonly #states: RequestStates;

  constructor(compiled: readonly Compiled[], services: CoreServices, states: RequestStates) {
    this.#compiled = compiled;
    this.#ofErrors = compiled.map(({ output }) => output.first.flatMap(forErrors));
    this.#services = services;
    this.#states = states;
  }

  /** True if guardrails of a target judge errors. */
  get judgesErrors(): boolean {
    return this.#ofErrors.some((guardrails) => guardrails.length > 0);
  }

  /** Judges an error of the provider, by guardrails that may deny or change a text and demand no form of it. Null: its text is not sent. */
  onProviderError(
    ctx: RequestContext,
    { headers, body }: ProviderErrorReply,
    target: Target,
  ): Maybe<JsonObject | null | undefined> {
    const guardrails = this.#ofErrors[target.index] ?? [];
    if (guardrails.length === 0) return undefined;
    const facts = { ...errorFacts, requestType: ctx.endpoint?.name ?? '', model: ctx.model };
    return after(readPassedReply(headers, body), (read) =>
      after(runGuardrails(guardrails, ctx, read, this.#services.clock, facts), ({ results, body: changed }) => {
        this.#states.record(ctx, results, target.path);
        if (results.some(isDenied)) return null;
        if (read === null || changed === read) return undefined;
        // A body that is no JSON object has other members.
        return read.text === undefined && read.texts === undefined && read.items === undefined ? changed : null;
      }),
    );
  }

  onAttemptResponse(ctx: RequestContext, response: AttemptResponse, target: Target): Maybe<Verdict | undefined> {
    const state = this.#states.of(ctx);
    // The guardrails of the request found no text beside the lines.
    if (state.batch) state.before = [...state.before.filter(({ checks }) => checks.length > 0), ...state.batch.results];
    state.after = [];
    state.isDenied = false;
    state.observed = null;
    const output = this.#compiled[target.index]?.output.all ?? [];
    const isRead = output.length > 0 && hasText(ctx, 'output') && response.body !== null && isChecked(response.status);
    state.windowed = null;
    if (response.body === null && isChecked(response.status) && output.length > 0) {
      const observed = output.filter(({ stream }) => stream !== 'window');
      if (observed.length > 0) {
        state.observed = {
          chunks: new ChunkList(),
          bytes: 0,
          headers: response.headers,
          output: observed,
          targetPath: target.path,
        };
      }
      ctx.streamFilter = this.#openWindow(ctx, state, output, target);
    }
    if (!isRead) return this.#failedVerdict(ctx, state, response);
    return after(readBody(ctx, response), (read) => this.#checkResponse(ctx, state, response, target, read));
  }

  #checkResponse(
    ctx: RequestContext,
    state: State,
    response: AttemptResponse,
    target: Target,
    read: ReadBody,
  ): Maybe<Verdict | undefined> {
    const { first, later } = this.#compiled[target.index]?.output ?? noGuardrails;
    this.#states.runLater(ctx, later, read.body, target.path);
    if (first.length === 0) return this.#failedVerdict(ctx, state, response);
    return after(runGuardrails(first, ctx, read.body, this.#services.clock), ({ results, body }) => {
      state.after = results;
      this.#states.record(ctx, results, target.path);
      if (results.some(isDenied)) {
        deny(state, results);
        return { action: 'deny', reply: denialOf(state, ctx), reason: reasonOf(results) };
      }
      if (read.body === null || ctx.endpoint?.operation === null || (body === read.body && read.isAmbiguous !== true))
        return this.#failedVerdict(ctx, state, response);
      const changed = read.write(body);
      if (changed === null) return { action: 'fail', error: unwritable() };
      return { action: 'change', body: changed, status: hasFailed(state) ? hooksFailed : response.status };
    });
  }

  /** Returns the filter of a stream that guardrails decide in a window; null if there are none. */
  #openWindow(ctx: RequestContext, state: State, output: readonly Guardrail[], target: Target): StreamWindow | null {
    const format = ctx.endpoint?.format ?? 'plain';
    const checks = windowChecks(output);
    if (checks.length === 0 || format === 'plain' || !repliesWithMessages(ctx.endpoint?.operation ?? null)) return null;
    state.windowed = new StreamWindow(format, checks, (last) => {
      state.after = this.#closeWindow(ctx, state, target.path);
      deny(state, state.after);
      const lastEvents = state.isSoft ? softEndOf(ctx, denialText(state.after), last) : null;
      return { reply: denialOf(state, ctx), lastEvents };
    });
    return state.windowed;
  }

  /** Records the results of a stream that was decided in a window. */
  #closeWindow(ctx: RequestContext, state: State, targetPath: string | null): readonly GuardrailResult[] {
    if (!state.windowed) return [];
    const results = windowResults(state.windowed.checks, this.#services.clock);
    state.windowed = null;
    this.#states.record(ctx, results, targetPath);
    return results;
  }

  /** A response whose guardrails failed without denying it has status 246, so that it is not cached and a config can ask for another one. */
  #failedVerdict(ctx: RequestContext, state: State, { body, status }: AttemptResponse): Verdict | undefined {
    if (ctx.endpoint?.operation === null || !hasFailed(state) || body === null || !isChecked(status)) return undefined;
    return { action: 'change', body, status: hooksFailed, reason: reasonOf([...state.before, ...state.after]) };
  }

  /** Returns the event with the results of a stream that was not held, for clients that receive events of the gateway. */
  onStreamEnd(ctx: RequestContext): Maybe<string> {
    const state = this.#states.known(ctx);
    if (!state?.showsEnd) return '';
    const inWindow = this.#closeWindow(ctx, state, ctx.targetPath);
    const { observed } = state;
    if (observed === null || observed.bytes > observedBytesMax) return lastEventOf(ctx, inWindow);
    state.observed = null;
    const { output, targetPath } = observed;
    return after(readObserved(ctx, observed), ({ body }) => {
      const shown = output.filter(({ async }) => !async);
      this.#states.runLater(
        ctx,
        output.filter(({ async }) => async),
        body,
        targetPath,
      );
      return after(runGuardrails(shown, ctx, body, this.#services.clock), ({ results }) => {
        this.#states.record(ctx, results, targetPath);
        return lastEventOf(ctx, [...results, ...inWindow]);
      });
    });
  }

  /** The record is written after this hook, so that it holds what an observed stream leads to. */
  onEnd(ctx: RequestContext, { kind }: Outcome): void {
    const state = this.#states.known(ctx);
    if (!state) return;
    this.#closeWindow(ctx, state, ctx.targetPath);
    const { observed } = state;
    if (observed && kind === 'success') {
      if (observed.bytes > observedBytesMax) {
        this.#services.log.warn(
          { requestId: ctx.id },
          `guardrails did not check a stream of more than ${observedBytesMax} bytes`,
        );
      } else {
        void after(readObserved(ctx, observed), ({ body }) =>
          this.#states.runLater(ctx, observed.output, body, observed.targetPath),
        );
      }
    }
    state.isClosed = true;
  }
}

/** The body of an error has no form that all providers share. */
const errorFacts = { operation: null, isReadable: true, isFixed: false } as const;

/** The guardrail with the checks that judge errors; none if it neither denies nor changes anything. */
function forErrors(guardrail: Guardrail): Guardrail[] {
  const checks = guardrail.checks.filter(({ demandsForm, readsNoText }) => !demandsForm && !readsNoText);
  return checks.length > 0 && (mayDeny(guardrail) || checks.some(({ changes }) => changes)) ? [{ ...guardrail, checks }] : [];
}

function readObserved(ctx: RequestContext, { headers, chunks }: NonNullable<State['observed']>): Maybe<ReadBody> {
  return readBody(ctx, { status: 200, headers, body: chunks.concat(), json: null });
}

function lastEventOf({ endpoint }: RequestContext, results: readonly GuardrailResult[]): string {
  return results.length === 0 ? '' : resultsEvent(endpoint?.format ?? 'plain', 'after', results);
}

/** Returns true if guardrails check responses with this status. Some providers reply with 201. */
function isChecked(status: number): boolean {
  return status < 300;
}

/** The provider replied as agreed and no code failed, so that the response counts as denied. */
function unwritable(): GatewayError {
  return new GatewayError('response_denied', {
    message:
      'A guardrail changed a text of the response that cannot be replaced. Ask for a response without a stream, or use a guardrail that denies',
  });
}

function reasonOf(results: readonly GuardrailResult[]): string {
  const failed = results.filter(({ verdict }) => !verdict).map(({ guardrail }) => guardrail.id);
  return `failed guardrails: ${failed.join(', ')}`;
}

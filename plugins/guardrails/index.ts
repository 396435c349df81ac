import { type CheckBatchLine, namesBatchFile } from '../../core/contract/plugin/batch-line.ts';
import type { Outcome, RequestContext } from '../../core/contract/plugin/context.ts';
import { type CoreHooks, type CorePlugin, type CoreServices, defineCorePlugin } from '../../core/contract/plugin/core-plugin.ts';
import type { GuardrailRule } from '../../core/contract/plugin/guardrail-config.ts';
import type { Target } from '../../core/contract/plugin/plan.ts';
import type { AttemptResponse, Denial, Reply, ReplyHead, Verdict } from '../../core/contract/plugin/plugin.ts';
import type { SessionDecision, SessionMessage } from '../../core/contract/plugin/web-socket.ts';
import { headerParam } from '../../core/contract/protocol/header-names.ts';
import { GatewayError } from '../../core/contract/values/errors.ts';
import { findHeader } from '../../core/contract/values/http.ts';
import { isPromise, type JsonObject, type Maybe } from '../../core/contract/values/json.ts';
import { BatchGuard } from './batch-guard.ts';
import type { Side } from './checks/check.ts';
import { compileGuardrails, type Guardrail } from './compile.ts';
import { denialOf, deniedResults, firstEventOf, isDenied, toRecord, withHookResults } from './hook-results.ts';
import { after } from './maybe.ts';
import { type ReadBody, readBody } from './read-body.ts';
import { type GuardrailResult, runGuardrails } from './run.ts';
import { guardrailsConfig } from './schema.ts';
import { SessionGuard } from './session/session-guard.ts';
import { softDenialOf, softEndOf } from './soft-denial.ts';
import { hasText, isPassed } from './texts.ts';
import { StreamWindow } from './window/stream-window.ts';
import { windowChecks, windowResults } from './window/window-checks.ts';

/** Runs the guardrails of a config: at the start of requests, on requests before the provider is called, on responses before they are sent. */
export const guardrails = (): CorePlugin =>
  defineCorePlugin({
    name: 'guardrails',
    stage: 'input-guardrails',
    after: ['config-resolution', 'limits'],
    config: guardrailsConfig,
    onConfig(_config, { targets }, services) {
      const compiled = compileTargets(targets, services);
      const [first] = compiled;
      if (!first || compiled.every(({ start, input, output }) => start.all.length + input.all.length + output.all.length === 0))
        return null;
      // Targets with prompts of their own send different requests.
      const isShared = compiled.every(({ input }) => input === first.input) && targets.every(({ promptId }) => promptId === null);
      return new GuardrailHooks(compiled, services).hooks(isShared);
    },
  }) as CorePlugin;

/** The guardrails of one list. The request waits for the first ones; nothing waits for `later`. */
interface Guardrails {
  readonly all: readonly Guardrail[];
  readonly first: readonly Guardrail[];
  readonly later: readonly Guardrail[];
}

const noGuardrails: Guardrails = { all: [], first: [], later: [] };

function toGuardrails(all: readonly Guardrail[]): Guardrails {
  return { all, first: all.filter(({ async }) => !async), later: all.filter(({ async }) => async) };
}

type Compiled = Readonly<Record<Side, Guardrails>>;

/** The guardrails of each target. Targets that inherit the same list share its compiled form. */
function compileTargets(targets: readonly Target[], services: CoreServices): Compiled[] {
  const known = new Map<readonly GuardrailRule[], Guardrails>();
  const errors: string[] = [];
  const compile = (rules: readonly GuardrailRule[], side: Side): Guardrails => {
    const compiled = known.get(rules) ?? toGuardrails(compileGuardrails(rules, side, services, errors));
    known.set(rules, compiled);
    return compiled;
  };
  const all = targets.map(({ guardrails: { start, input, output } }) => ({
    start: compile(start, 'start'),
    input: compile(input, 'input'),
    output: compile(output, 'output'),
  }));
  if (errors.length === 0) return all;
  throw new GatewayError('invalid_config', {
    message: `Invalid config passed: ${errors.join('; ')}`,
    errors,
    param: headerParam('config'),
  });
}

/** Guardrails of one request so far. */
interface State {
  /** Target that the input guardrails ran for; null: they ran once for all targets, or not yet. */
  targetIndex: number | null;
  /** Start hooks. Results of the request begin with them. */
  start: readonly GuardrailResult[];
  before: readonly GuardrailResult[];
  after: readonly GuardrailResult[];
  /** The request before the guardrails of a target changed it. */
  readonly request: { readonly params: JsonObject | null; readonly bodyChanged: boolean };
  /** True if the reply is a denial, which shows its results already. */
  isDenied: boolean;
  /** True if the client is to receive the denial as a message of the assistant. */
  isSoft: boolean;
  /** True until the results were added to the body of the reply. */
  showsResults: boolean;
  /** Event with the results of the request, to be sent before the first event of a stream. */
  firstEvent: string | null;
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

interface Observed {
  readonly chunks: Uint8Array[];
  bytes: number;
  readonly headers: AttemptResponse['headers'];
  readonly output: readonly Guardrail[];
  readonly targetPath: string;
}

/** Maximum bytes of a stream that are collected for guardrails that only observe. */
const observedBytesMax = 4 * 1024 * 1024;

class GuardrailHooks {
  readonly #compiled: readonly Compiled[];
  readonly #services: CoreServices;
  readonly #slot: ReturnType<CoreServices['slot']>;

  constructor(compiled: readonly Compiled[], services: CoreServices) {
    this.#compiled = compiled;
    this.#services = services;
    this.#slot = services.slot();
  }

  /** `isShared`: all targets have the same input guardrails, which then run once and before the cache is asked. */
  hooks(isShared: boolean): CoreHooks {
    const start = this.#compiled[0]?.start ?? noGuardrails;
    const hasInput = this.#compiled.some(({ input }) => input.all.length > 0);
    const modes = new Set(this.#compiled.flatMap(({ output }) => output.all.map(({ stream }) => stream)));
    return {
      ...(start.all.length > 0 ? { onStart: (ctx) => this.#checkStart(ctx, start) } : {}),
      onRequest: (ctx) => this.#onRequest(ctx, isShared),
      ...(hasInput && !isShared ? { onAttempt: (ctx, target) => this.#onAttempt(ctx, target) } : {}),
      onAttemptResponse: (ctx, response, target) => this.#onAttemptResponse(ctx, response, target),
      onOwnReply: (ctx, reply) => this.#onOwnReply(ctx, reply),
      onBatch: (ctx, target) => this.#onBatch(ctx, target),
      onSessionMessage: (ctx, message) => this.#onSessionMessage(ctx, message),
      onReply: (ctx, head) => this.#onReply(ctx, head),
      onChunk: (ctx, chunk) => this.#onChunk(ctx, chunk),
      onEnd: (ctx, outcome) => this.#onEnd(ctx, outcome),
      ...(modes.has('buffer') ? { holdsStream: () => true } : modes.has('window') ? { holdsStream: hasOtherFormat } : {}),
      // Pass-through bodies are parsed for the checks of requests.
      ...(hasInput ? { readsParams: true } : {}),
    };
  }

  #stateOf(ctx: RequestContext): State {
    let state = this.#slot.get(ctx) as State | undefined;
    if (!state) {
      const request = { params: ctx.params, bodyChanged: ctx.bodyChanged };
      state = {
        targetIndex: null,
        start: [],
        before: [],
        after: [],
        request,
        isDenied: false,
        isSoft: false,
        showsResults: false,
        firstEvent: null,
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

  /** Start hooks see headers, metadata, route and caller, and no part of the body. */
  #checkStart(ctx: RequestContext, { first, later }: Guardrails): Maybe<Reply | undefined> {
    this.#runLater(ctx, later, {}, null);
    if (first.length === 0) return undefined;
    return after(runGuardrails(first, ctx, {}, this.#services.clock), ({ results }) => {
      const state = this.#stateOf(ctx);
      state.start = results;
      state.before = results;
      this.#record(ctx, results, null);
      return results.some(isDenied) ? this.#denied(ctx, state, results) : undefined;
    });
  }

  /** Returns the reply of a request that is denied before a target was chosen. */
  #denied(ctx: RequestContext, state: State, results: readonly GuardrailResult[]): Reply {
    deny(state, results);
    return this.#softReply(ctx, state) ?? denialOf(state);
  }

  #onRequest(ctx: RequestContext, isShared: boolean): Maybe<Reply | undefined> {
    if (ctx.request.webSocketProtocols) return this.#checkSession(ctx);
    return isShared ? this.#checkRequest(ctx, this.#compiled[0]?.input ?? noGuardrails, null) : undefined;
  }

  /**
   * Checks that read no text run when a session begins, and the others on each message. Messages of sessions that are not realtime ones have
   * unknown formats: guardrails that deny reject the session, because they could not check it.
   */
  #checkSession(ctx: RequestContext): Maybe<Reply | undefined> {
    const all = [...new Set(this.#compiled.flatMap(({ input, output }) => [...input.all, ...output.all]))];
    if (!ctx.endpoint?.isRealtime) return this.#checkRequest(ctx, toGuardrails(all), null);
    const ofEnvelope = all.map((one) => ({ ...one, checks: one.checks.filter(({ readsNoText }) => readsNoText) }));
    return this.#checkRequest(ctx, toGuardrails(ofEnvelope.filter(({ checks }) => checks.length > 0)), null);
  }

  #onSessionMessage(ctx: RequestContext, message: SessionMessage): Maybe<SessionDecision | undefined> {
    if (!ctx.endpoint?.isRealtime) return undefined;
    const state = this.#stateOf(ctx);
    state.session ??= this.#openSession(ctx);
    return state.session.check(ctx, message);
  }

  #openSession(ctx: RequestContext): SessionGuard {
    const index = ctx.plan.targets.find(({ path }) => path === ctx.targetPath)?.index ?? 0;
    const { input, output } = this.#compiled[index] ?? { input: noGuardrails, output: noGuardrails };
    const record = (results: readonly GuardrailResult[]) => this.#record(ctx, results, ctx.targetPath);
    return new SessionGuard({ input: input.all, output: output.all, clock: this.#services.clock, record });
  }

  #onBatch(ctx: RequestContext, { index, path }: Target): CheckBatchLine | null {
    const state = this.#stateOf(ctx);
    const { input, output } = this.#compiled[index] ?? { input: noGuardrails, output: noGuardrails };
    const record = (results: readonly GuardrailResult[]) => this.#record(ctx, results, path);
    const onDenial = () => {
      state.isDenied = true;
    };
    state.batch = new BatchGuard({ input: input.all, output: output.all, clock: this.#services.clock, record, onDenial });
    return state.batch.check(ctx);
  }

  #onAttempt(ctx: RequestContext, target: Target): Maybe<Denial | undefined> {
    const state = this.#stateOf(ctx);
    // A retry at the same target sends the same request.
    if (state.targetIndex === target.index || ctx.request.webSocketProtocols) return undefined;
    state.targetIndex = target.index;
    // A target with a prompt of its own begins with the body of that prompt.
    if (!ctx.plan.hasPrompts) {
      ctx.params = state.request.params;
      ctx.bodyChanged = state.request.bodyChanged;
    }
    const checked = this.#checkRequest(ctx, this.#compiled[target.index]?.input ?? noGuardrails, target.path);
    return after(checked, (reply) => reply && { action: 'deny', reply });
  }

  /** Returns the reply with 446 if the request is denied. */
  #checkRequest(ctx: RequestContext, { first, later }: Guardrails, targetPath: string | null): Maybe<Reply | undefined> {
    const state = this.#stateOf(ctx);
    state.before = state.start;
    state.after = [];
    state.isDenied = false;
    const body = ctx.endpoint?.operation === null ? passedBody(ctx) : (ctx.params ?? {});
    this.#runLater(ctx, later, body, targetPath);
    if (first.length === 0) return undefined;
    return after(runGuardrails(first, ctx, body, this.#services.clock), ({ results, body: changed }) => {
      state.before = state.start.length === 0 ? results : [...state.start, ...results];
      this.#record(ctx, results, targetPath);
      if (ctx.params !== null && changed !== body) {
        ctx.params = changed;
        ctx.bodyChanged = true;
      }
      if (!results.some(isDenied)) return undefined;
      if (targetPath === null) return this.#denied(ctx, state, results);
      deny(state, results);
      return denialOf(state);
    });
  }

  #onAttemptResponse(ctx: RequestContext, response: AttemptResponse, target: Target): Maybe<Verdict | undefined> {
    const state = this.#stateOf(ctx);
    // The guardrails of the request found no text beside the lines.
    if (state.batch) state.before = [...state.before.filter(({ checks }) => checks.length > 0), ...state.batch.results];
    state.after = [];
    state.isDenied = false;
    state.observed = null;
    const output = this.#compiled[target.index]?.output.all ?? [];
    const isRead = output.length > 0 && hasText(ctx, 'output') && response.body !== null && isChecked(ctx, response.status);
    state.windowed = null;
    if (response.body === null && isChecked(ctx, response.status) && output.length > 0) {
      const observed = output.filter(({ stream }) => stream !== 'window');
      if (observed.length > 0) {
        state.observed = { chunks: [], bytes: 0, headers: response.headers, output: observed, targetPath: target.path };
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
    this.#runLater(ctx, later, read.body, target.path);
    if (first.length === 0) return this.#failedVerdict(ctx, state, response);
    return after(runGuardrails(first, ctx, read.body, this.#services.clock), ({ results, body }) => {
      state.after = results;
      this.#record(ctx, results, target.path);
      if (results.some(isDenied)) {
        deny(state, results);
        return { action: 'deny', reply: denialOf(state), reason: reasonOf(results) };
      }
      if (read.body === null || ctx.endpoint?.operation === null || body === read.body)
        return this.#failedVerdict(ctx, state, response);
      const changed = read.write(body);
      if (changed === null) return { action: 'fail', error: unwritable() };
      return { action: 'change', body: changed, status: this.#hasFailed(state) ? 246 : 200 };
    });
  }

  /** Returns the filter of a stream that guardrails decide in a window; null if there are none. */
  #openWindow(ctx: RequestContext, state: State, output: readonly Guardrail[], target: Target): StreamWindow | null {
    const format = ctx.endpoint?.format ?? 'plain';
    const checks = windowChecks(output);
    if (checks.length === 0 || format === 'plain') return null;
    state.windowed = new StreamWindow(format, checks, (last) => {
      state.after = this.#closeWindow(ctx, state, target.path);
      deny(state, state.after);
      const lastEvents = state.isSoft ? softEndOf(ctx, last) : null;
      return { reply: denialOf(state), lastEvents };
    });
    return state.windowed;
  }

  /** Records the results of a stream that was decided in a window. */
  #closeWindow(ctx: RequestContext, state: State, targetPath: string | null): readonly GuardrailResult[] {
    if (!state.windowed) return [];
    const results = windowResults(state.windowed.checks, this.#services.clock);
    state.windowed = null;
    this.#record(ctx, results, targetPath);
    return results;
  }

  /** A response whose guardrails failed without denying it has status 246, so that it is not cached and a config can ask for another one. */
  #failedVerdict(ctx: RequestContext, state: State, { body, status }: AttemptResponse): Verdict | undefined {
    if (ctx.endpoint?.operation === null || !this.#hasFailed(state) || body === null || status !== 200) return undefined;
    return { action: 'change', body, status: 246, reason: reasonOf([...state.before, ...state.after]) };
  }

  #hasFailed({ before, after }: State): boolean {
    return before.some(({ verdict }) => !verdict) || after.some(({ verdict }) => !verdict);
  }

  /** Returns the denial as a message of the assistant; undefined if the config or the route has none. */
  #softReply(ctx: RequestContext, state: State): Reply | undefined {
    if (!state.isSoft) return undefined;
    return softDenialOf(ctx, deniedResults(state), this.#services.clock.now()) ?? undefined;
  }

  #onReply(ctx: RequestContext, head: ReplyHead): Reply | undefined {
    const state = this.#stateOf(ctx);
    if (state.isDenied) return this.#softReply(ctx, state);
    if (ctx.endpoint?.operation === null || (state.before.length === 0 && state.after.length === 0)) return undefined;
    // Streams that are not held have their own status until here.
    if (head.status === 200 && this.#hasFailed(state)) head.status = 246;
    const type = findHeader(head.headers, 'content-type') ?? '';
    const isJson = /^application\/json\b/i.test(type);
    if (/^text\/event-stream\b/i.test(type) && head.status < 300 && state.before.length > 0 && !isStrict(ctx)) {
      state.firstEvent = firstEventOf(ctx.endpoint?.format ?? 'plain', state.before);
    }
    state.showsResults = isJson && findHeader(head.headers, 'content-encoding') === undefined;
    return undefined;
  }

  /** A hit of the cache shows the results of the request. Output guardrails have judged it when it was stored. */
  #onOwnReply(ctx: RequestContext, reply: Reply): Reply {
    const { before, isDenied } = this.#stateOf(ctx);
    const isHit = ctx.cacheStatus?.endsWith('HIT') === true && reply.status === 200;
    if (!isHit || isDenied || before.length === 0 || ctx.endpoint?.operation === null) return reply;
    const body = Buffer.from(reply.body);
    const type = findHeader([...reply.headers], 'content-type') ?? '';
    const status = before.some(({ verdict }) => !verdict) ? 246 : 200;
    if (/^application\/json\b/i.test(type)) return { ...reply, status, body: withHookResults(body, { before }) };
    if (!/^text\/event-stream\b/i.test(type) || isStrict(ctx)) return { ...reply, status };
    return { ...reply, status, body: Buffer.concat([Buffer.from(firstEventOf(ctx.endpoint?.format ?? 'plain', before)), body]) };
  }

  #onChunk(ctx: RequestContext, chunk: Uint8Array): Uint8Array {
    const state = this.#stateOf(ctx);
    if (state.observed) observe(state.observed, chunk);
    if (state.firstEvent !== null) {
      const first = Buffer.from(state.firstEvent);
      state.firstEvent = null;
      return Buffer.concat([first, chunk]);
    }
    if (!state.showsResults) return chunk;
    state.showsResults = false;
    return withHookResults(chunk, state);
  }

  /** The record is written after this hook, so that it holds what an observed stream leads to. */
  #onEnd(ctx: RequestContext, { kind }: Outcome): void {
    const state = this.#slot.get(ctx) as State | undefined;
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
        const response = { status: 200, headers: observed.headers, body: Buffer.concat(observed.chunks), json: null };
        void after(readBody(ctx, response), ({ body }) => this.#runLater(ctx, observed.output, body, observed.targetPath));
      }
    }
    state.isClosed = true;
  }

  /** Runs guardrails that nothing waits for. Results that come after the record was written are logged. */
  #runLater(ctx: RequestContext, guardrails: readonly Guardrail[], body: JsonObject | null, targetPath: string | null): void {
    if (guardrails.length === 0) return;
    const done = runGuardrails(guardrails, ctx, body, this.#services.clock);
    if (isPromise(done)) void done.then(({ results }) => this.#record(ctx, results, targetPath));
    else this.#record(ctx, done.results, targetPath);
  }

  #record(ctx: RequestContext, results: readonly GuardrailResult[], targetPath: string | null): void {
    const records = results.map((result) => toRecord(result, targetPath));
    if (!this.#stateOf(ctx).isClosed) {
      ctx.guardrails ??= [];
      if (ctx.guardrails.length + records.length <= recordsMax) ctx.guardrails.push(...records);
      return;
    }
    for (const { id, side, verdict } of records) {
      this.#services.log.info(
        { requestId: ctx.id, guardrail: id, side, verdict },
        'an asynchronous guardrail ended after the reply',
      );
    }
  }
}

function deny(state: State, results: readonly GuardrailResult[]): void {
  state.isDenied = true;
  state.isSoft = results.filter(isDenied).every(({ guardrail }) => guardrail.softDeny);
}

function observe(observed: Observed, chunk: Uint8Array): void {
  observed.bytes += chunk.length;
  if (observed.bytes <= observedBytesMax) observed.chunks.push(chunk);
  else observed.chunks.length = 0;
}

/** Returns true for routes whose streams have no format that a window reads: guardrails that need one hold them instead. */
function hasOtherFormat({ endpoint }: RequestContext): boolean {
  return (endpoint?.format ?? 'plain') === 'plain' || endpoint?.operation === null;
}

/** Clients of the strict format receive no events of the gateway. */
function isStrict(ctx: RequestContext): boolean {
  const target = ctx.plan.targets.find(({ path }) => path === ctx.targetPath);
  return (target?.strict ?? ctx.requestTarget?.strict) !== false;
}

/** Bounds the guardrails in a record: targets × retries can be many. */
const recordsMax = 200;

/** Returns true if guardrails check responses with this status. Pass-through replies have the status that the provider chose. */
function isChecked(ctx: RequestContext, status: number): boolean {
  return status === 200 || (isPassed(ctx) && status < 300);
}

/** The body of a pass-through request; null if there is one that cannot be read. */
function passedBody({ passedParams, request }: RequestContext): JsonObject | null {
  if (request.webSocketProtocols) return null;
  // The texts are in the file.
  if (passedParams !== null && namesBatchFile(passedParams)) return null;
  return passedParams ?? (request.body.length === 0 ? {} : null);
}

function unwritable(): GatewayError {
  return new GatewayError('internal', { detail: 'a guardrail changed a part of a stream that cannot be rewritten' });
}

function reasonOf(results: readonly GuardrailResult[]): string {
  const failed = results.filter(({ verdict }) => !verdict).map(({ guardrail }) => guardrail.id);
  return `failed guardrails: ${failed.join(', ')}`;
}

import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { CoreServices } from '../../core/contract/plugin/core-plugin.ts';
import type { Target } from '../../core/contract/plugin/plan.ts';
import type { Denial, Reply } from '../../core/contract/plugin/plugin.ts';
import { type CheckBatchLine, namesBatchFile } from '../../core/contract/plugin/requests/batch-line.ts';
import { sendLastNames } from '../../core/contract/plugin/requests/names-twice.ts';
import { runsElsewhere } from '../../core/contract/plugin/requests/passed-traffic.ts';
import { isUpload } from '../../core/contract/plugin/requests/uploads.ts';
import type { SessionDecision, SessionMessage } from '../../core/contract/plugin/sessions/web-socket.ts';
import type { JsonObject } from '../../core/contract/values/json/json.ts';
import { after, type Maybe } from '../../core/contract/values/maybe.ts';
import { BatchGuard } from './batch-guard.ts';
import type { TextPart } from './every-text.ts';
import { type Compiled, type Guardrails, noGuardrails, toGuardrails } from './guardrail-lists.ts';
import { denialOf, isDenied, mayDeny } from './hook-results.ts';
import { deny, type RequestStates, type State, softReplyOf } from './request-state.ts';
import { factsOf, type GuardrailResult, runGuardrails, unreadable } from './run.ts';
import { SessionGuard } from './session/session-guard.ts';
import { textMembers } from './texts.ts';
import { textsInForm, uploadBody } from './upload-texts.ts';

/** Runs start hooks and the guardrails of requests, of sessions and of batches. */
export class RequestChecks {
  readonly #compiled: readonly Compiled[];
  readonly #services: CoreServices;
  readonly #states: RequestStates;

  constructor(compiled: readonly Compiled[], services: CoreServices, states: RequestStates) {
    this.#compiled = compiled;
    this.#services = services;
    this.#states = states;
  }

  /** Start hooks see headers, metadata, route and caller, and no part of the body. */
  checkStart(ctx: RequestContext, { first, later }: Guardrails): Maybe<Reply | undefined> {
    this.#states.runLater(ctx, later, {}, null);
    if (first.length === 0) return undefined;
    return after(runGuardrails(first, ctx, {}, this.#services.clock), ({ results }) => {
      const state = this.#states.of(ctx);
      state.start = results;
      state.before = results;
      this.#states.record(ctx, results, null);
      return results.some(isDenied) ? this.#denied(ctx, state, results) : undefined;
    });
  }

  /** Returns the reply of a request that is denied before a target was chosen. */
  #denied(ctx: RequestContext, state: State, results: readonly GuardrailResult[]): Reply {
    deny(state, results);
    return softReplyOf(ctx, state, this.#services.clock) ?? denialOf(state, ctx);
  }

  onRequest(ctx: RequestContext, isShared: boolean): Maybe<Reply | undefined> {
    if (ctx.request.webSocketProtocols) return this.#checkSession(ctx);
    const named = this.#compiled.some(({ input }) => input.all.length > 0) ? this.#sendCheckedNames(ctx) : undefined;
    return after(named, () => this.#checkShared(ctx, isShared));
  }

  #checkShared(ctx: RequestContext, isShared: boolean): Maybe<Reply | undefined> {
    const denied = this.#checkElsewhere(ctx);
    if (denied !== undefined || !isShared) return denied;
    const { model } = ctx;
    return after(this.#checkRequest(ctx, this.#compiled[0]?.input ?? noGuardrails, null), (reply) => {
      const state = this.#states.of(ctx);
      state.shared = { model, results: state.before };
      return reply;
    });
  }

  /**
   * Denies a pass-through request after which a model runs where no guardrail reads its texts: a batch that its provider runs, and a session that
   * the client opens at the provider.
   */
  #checkElsewhere(ctx: RequestContext): Reply | undefined {
    const { endpoint } = ctx;
    if (endpoint?.operation !== null || !runsElsewhere(endpoint)) return undefined;
    const isSession = !/batch|async-invoke|model-invocation-job/i.test(endpoint.proxyPath);
    const all = new Set(
      this.#compiled.flatMap(({ input, output }) => [...(isSession ? input.first : []), ...output.first]).filter(mayDeny),
    );
    const reading = [...all].map((one) => ({ ...one, checks: one.checks.filter(({ readsNoText }) => !readsNoText) }));
    const message = `The texts of a ${isSession ? 'session at the provider' : 'batch that its provider runs'} are not checked`;
    const results = unreadable(reading, message, this.#services.clock);
    if (!results.some(isDenied)) return undefined;
    const state = this.#states.of(ctx);
    state.before = results.filter(({ guardrail }) => guardrail.side === 'input');
    state.after = results.filter(({ guardrail }) => guardrail.side === 'output');
    this.#states.record(ctx, results, null);
    return this.#denied(ctx, state, results);
  }

  #sendCheckedNames(ctx: RequestContext): Maybe<void> {
    return after(sendLastNames(ctx), (isTwice) => {
      if (isTwice) this.#states.of(ctx).request = { params: ctx.params, bodyChanged: true };
    });
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

  onSessionMessage(ctx: RequestContext, message: SessionMessage): Maybe<SessionDecision | undefined> {
    if (!ctx.endpoint?.isRealtime) return undefined;
    const state = this.#states.of(ctx);
    state.session ??= this.#openSession(ctx);
    return state.session.check(ctx, message);
  }

  #openSession(ctx: RequestContext): SessionGuard {
    const index = ctx.plan.targets.find(({ path }) => path === ctx.targetPath)?.index ?? 0;
    const { input, output } = this.#compiled[index] ?? { input: noGuardrails, output: noGuardrails };
    const record = (results: readonly GuardrailResult[]) => this.#states.record(ctx, results, ctx.targetPath);
    return new SessionGuard({ input: input.all, output: output.all, clock: this.#services.clock, record });
  }

  onBatch(ctx: RequestContext, { index, path }: Target): CheckBatchLine | null {
    const state = this.#states.of(ctx);
    const { input, output } = this.#compiled[index] ?? { input: noGuardrails, output: noGuardrails };
    const record = (results: readonly GuardrailResult[]) => this.#states.record(ctx, results, path);
    const onDenial = () => {
      state.isDenied = true;
    };
    state.batch = new BatchGuard({ input: input.all, output: output.all, clock: this.#services.clock, record, onDenial });
    return state.batch.check(ctx);
  }

  onAttempt(ctx: RequestContext, target: Target): Maybe<Denial | undefined> {
    const state = this.#states.of(ctx);
    // A retry at the same target sends the same request.
    if (state.targetIndex === target.index || ctx.request.webSocketProtocols) return undefined;
    state.targetIndex = target.index;
    // A target with a prompt of its own begins with the body of that prompt.
    if (!ctx.plan.hasPrompts) {
      ctx.params = state.request.params;
      ctx.bodyChanged = state.request.bodyChanged;
    }
    const forced = addOwnTexts(ctx, target);
    const { params } = ctx;
    const checked = this.#checkRequest(ctx, this.#compiled[target.index]?.input ?? noGuardrails, target.path);
    return after(checked, (reply) => {
      // The target would set the texts again that a check has replaced.
      const isUndone = reply === undefined && forced.some((name) => params?.[name] !== ctx.params?.[name]);
      if (isUndone) Object.assign(state, { isDenied: true, isSoft: false });
      const denial = isUndone ? denialOf(state, ctx) : reply;
      return denial && { action: 'deny', reply: denial };
    });
  }

  /**
   * Judges the model of a pass-through request that its target reads elsewhere than all others: in a path that only its provider knows.
   * The guardrails that all targets share ran before the target was known. Without a model elsewhere, they accept an allowed one that any
   * provider reads in the path.
   */
  checkModelOf(ctx: RequestContext, target: Target): Maybe<Denial | undefined> {
    if (ctx.endpoint?.operation !== null || ctx.passed === null || ctx.request.webSocketProtocols) return undefined;
    const state = this.#states.of(ctx);
    if (state.targetIndex === target.index || (ctx.model !== null && ctx.model === state.shared?.model)) return undefined;
    state.targetIndex = target.index;
    const { all } = this.#compiled[target.index]?.input ?? noGuardrails;
    const ofModels = all.map((one) => ({ ...one, checks: one.checks.filter(({ readsModels }) => readsModels) }));
    const checked = this.#checkRequest(ctx, toGuardrails(ofModels.filter(({ checks }) => checks.length > 0)), target.path);
    return after(checked, (reply) => reply && { action: 'deny', reply });
  }

  /** Returns the reply with 446 if the request is denied. */
  #checkRequest(ctx: RequestContext, guardrails: Guardrails, targetPath: string | null): Maybe<Reply | undefined> {
    const state = this.#states.of(ctx);
    state.before = state.shared?.results ?? state.start;
    state.after = [];
    state.isDenied = false;
    if (isUpload(ctx)) return uploadBody(ctx).then((files) => this.#checkBody(ctx, guardrails, files, targetPath));
    const body = ctx.endpoint?.operation === null ? passedBody(ctx) : (ctx.params ?? {});
    const files = textsInForm(ctx);
    if (files === undefined) return this.#checkBody(ctx, guardrails, body, targetPath);
    return files.then((texts) => this.#checkBody(ctx, guardrails, body, targetPath, texts));
  }

  #checkBody(
    ctx: RequestContext,
    { first, later }: Guardrails,
    body: JsonObject | null,
    targetPath: string | null,
    files?: readonly TextPart[],
  ): Maybe<Reply | undefined> {
    const state = this.#states.of(ctx);
    const earlier = state.before;
    const facts = factsOf(ctx, (first[0] ?? later[0])?.side ?? 'input', files);
    this.#states.runLater(ctx, later, body, targetPath, facts);
    if (first.length === 0) return undefined;
    return after(runGuardrails(first, ctx, body, this.#services.clock, facts), ({ results, body: changed }) => {
      state.before = earlier.length === 0 ? results : [...earlier, ...results];
      this.#states.record(ctx, results, targetPath);
      if (ctx.params !== null && body !== null && changed !== body) {
        ctx.params = changed;
        ctx.bodyChanged = true;
      }
      if (!results.some(isDenied)) return undefined;
      if (targetPath === null) return this.#denied(ctx, state, results);
      deny(state, results);
      return denialOf(state, ctx);
    });
  }
}

/** Adds the texts that a target sets to the parameters. Returns the names of those that replace the texts of the client. */
function addOwnTexts(ctx: RequestContext, { defaultParams, overrideParams }: Target): readonly string[] {
  const defaults = textMembers(defaultParams);
  const overrides = textMembers(overrideParams);
  if (ctx.params === null || (defaults === null && overrides === null)) return [];
  ctx.params = { ...defaults, ...ctx.params, ...overrides };
  ctx.bodyChanged = true;
  return Object.keys(overrides ?? {});
}

/** The body of a pass-through request; null if there is one that cannot be read. */
function passedBody({ passedParams, request }: RequestContext): JsonObject | null {
  if (request.webSocketProtocols) return null;
  // The texts are in the file.
  if (passedParams !== null && namesBatchFile(passedParams)) return null;
  return passedParams ?? (request.body.length === 0 ? {} : null);
}

import type { RequestContext } from '../../contract/plugin/context.ts';
import type { ProviderErrorReply } from '../../contract/plugin/core-plugin.ts';
import type { JudgeHook, Target } from '../../contract/plugin/plan.ts';
import type { AttemptResponse, Reply, Verdict } from '../../contract/plugin/plugin.ts';
import type { OperationCall } from '../../contract/provider/provider.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { geminiError } from '../../contract/values/errors/gemini-errors.ts';
import { messagesErrorType } from '../../contract/values/errors/messages-errors.ts';
import { type HeaderList, withoutHeader } from '../../contract/values/http/http.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { isPromise, type Maybe } from '../../contract/values/maybe.ts';
import type { Clock } from '../../contract/values/time/clock.ts';
import type { AttemptReply, PlainReply } from '../attempt-reply.ts';
import { countRoughly } from '../usage/estimate-usage.ts';
import type { JudgeStream } from './reply-stream.ts';

/** Bounds the verdicts in a record. */
const verdictsMax = 100;
const reasonCharactersMax = 500;

/** Asks the plugins of the plan for verdicts on the responses of one attempt. */
export interface Judge {
  /** Judges a response that is not held by its head, while it starts. */
  readonly head: JudgeStream;
  /** Judges a whole response that the provider accepted. `onLeft` is called first if the client disconnects meanwhile. */
  whole(reply: AttemptReply, onLeft: (reply: AttemptReply) => void): Maybe<AttemptReply>;
}

/** Returns true if a plugin judges the whole response, so that none of it is sent before it is complete. */
export function isHeld(ctx: RequestContext): boolean {
  const { readsReply, holdsStream } = ctx.plan;
  return readsReply || (holdsStream.length > 0 && holdsStream.some((hook) => hook(ctx)));
}

/** Returns null if no plugin judges responses. */
export function judgeOf(ctx: RequestContext, target: Target, clock: Clock): Judge | null {
  return ctx.plan.onAttemptResponse.length === 0 ? null : new AttemptJudge(ctx, target, clock);
}

/**
 * The judge of one attempt. It is a class because a closure that a method of an object literal stores in the context survives minor
 * collections with the whole request: 2 to 4 KB per request, until the next full collection.
 */
class AttemptJudge implements Judge {
  readonly #ctx: RequestContext;
  readonly #target: Target;
  readonly #clock: Clock;
  #reply: PlainReply | null = null;
  #onLeft: (reply: AttemptReply) => void = ignore;

  constructor(ctx: RequestContext, target: Target, clock: Clock) {
    this.#ctx = ctx;
    this.#target = target;
    this.#clock = clock;
  }

  readonly head: JudgeStream = (head) => judgeHead(this.#ctx, this.#target, head, this.#clock);

  whole(reply: AttemptReply, onLeft: (reply: AttemptReply) => void): Maybe<AttemptReply> {
    const ctx = this.#ctx;
    if (reply.kind !== 'plain' || reply.error !== null || ctx.aborted) return reply;
    this.#reply = reply;
    this.#onLeft = onLeft;
    ctx.abortUpstream = this.#abort;
    try {
      const judged = this.#judge(reply, 0);
      if (isPromise(judged)) return judged.finally(this.#finish);
      this.#finish();
      return judged;
    } catch (thrown) {
      this.#finish();
      throw thrown;
    }
  }

  /** The attempt is recorded even if the client disconnects while a plugin decides. */
  readonly #abort = (): void => {
    const reply = this.#reply as PlainReply;
    countRoughly(this.#ctx, this.#ctx.stream ? null : reply.body);
    this.#onLeft(reply);
  };

  readonly #finish = (): void => {
    this.#ctx.abortUpstream = null;
  };

  /**
   * Runs the `onAttemptResponse` hooks of the plan, from `at` on, on a whole response in the client's format. Returns the reply as the
   * verdicts change it. The reply of `deny` and `fail` is that of a failed attempt. Throws what a hook throws.
   */
  #judge(given: PlainReply, at: number): Maybe<AttemptReply> {
    const { onAttemptResponse } = this.#ctx.plan;
    let judged = given;
    for (let i = at; i < onAttemptResponse.length; i++) {
      const judge = onAttemptResponse[i] as JudgeHook;
      const { status, headers, body, json } = judged;
      const beganMs = this.#clock.elapsed();
      const outcome = judge.hook(this.#ctx, { status, headers, body, json }, this.#target);
      if (isPromise(outcome)) return this.#judgeLater(judged, i, beganMs, outcome);
      const next = outcome ? this.#apply(judged, judge, outcome, beganMs) : judged;
      if (next.kind !== 'plain' || next.error !== null) return next;
      judged = next;
    }
    return judged;
  }

  async #judgeLater(
    judged: PlainReply,
    at: number,
    beganMs: number,
    pending: PromiseLike<Verdict | undefined | void>,
  ): Promise<AttemptReply> {
    const verdict = await pending;
    const next = verdict ? this.#apply(judged, this.#ctx.plan.onAttemptResponse[at] as JudgeHook, verdict, beganMs) : judged;
    return next.kind !== 'plain' || next.error !== null ? next : this.#judge(next, at + 1);
  }

  /** Returns the reply as the verdict changes it. */
  #apply(judged: PlainReply, { plugin }: JudgeHook, verdict: Verdict, beganMs: number): AttemptReply {
    const { status, headers } = judged;
    noteVerdict(this.#ctx, this.#target, plugin, verdict, status, this.#clock.elapsed() - beganMs);
    if (verdict.action === 'pass') return judged;
    if (verdict.action !== 'change') return failedReply(this.#ctx, verdict, this.#reply);
    const changed = typeof verdict.body === 'string' ? Buffer.from(verdict.body) : verdict.body;
    const remaining = withoutHeader(withoutHeader(headers, 'content-length'), 'content-encoding');
    return { ...judged, status: verdict.status ?? status, headers: remaining, body: changed, json: null };
  }
}

const ignore = (): void => {};

/**
 * Runs the `onAttemptResponse` hooks on the head of a response that is not held. Returns null if the response passes, and otherwise the
 * reply of the failed attempt. Throws what a hook throws.
 */
function judgeHead(
  ctx: RequestContext,
  target: Target,
  head: Omit<AttemptResponse, 'body' | 'json'>,
  clock: Clock,
): Maybe<AttemptReply | null> {
  const response: AttemptResponse = { status: head.status, headers: head.headers, body: null, json: null };
  const next = (at: number): Maybe<AttemptReply | null> => {
    const { onAttemptResponse } = ctx.plan;
    for (let i = at; i < onAttemptResponse.length; i++) {
      const judge = onAttemptResponse[i] as JudgeHook;
      const beganMs = clock.elapsed();
      const conclude = (verdict: Verdict | undefined | void): AttemptReply | null => {
        if (!verdict) return null;
        if (verdict.action === 'change')
          throw new GatewayError('internal', {
            message: `Something went wrong in the plugin ${judge.plugin}`,
            detail: `plugin ${judge.plugin}, onAttemptResponse: a stream that is not held cannot be changed; declare reads: { response: 'body' }`,
          });
        noteVerdict(ctx, target, judge.plugin, verdict, head.status, clock.elapsed() - beganMs);
        return verdict.action === 'pass' ? null : failedReply(ctx, verdict, null);
      };
      const outcome = judge.hook(ctx, response, target);
      if (isPromise(outcome)) return outcome.then((verdict) => conclude(verdict) ?? next(i + 1));
      const failed = conclude(outcome);
      if (failed) return failed;
    }
    return null;
  };
  return next(0);
}

function failedReply(
  ctx: RequestContext,
  verdict: Verdict & { action: 'deny' | 'fail' },
  reply: PlainReply | null,
): AttemptReply {
  // The provider bills the response: its usage is added to that of the attempts that follow.
  if (reply !== null) countRoughly(ctx, ctx.stream ? null : reply.body);
  ctx.discardUsage();
  if (verdict.action === 'fail') return { kind: 'error', error: verdict.error };
  return deniedResponse(verdict.reply, reply?.call ?? null);
}

/** Returns the result of an attempt whose response was denied with this reply. */
export function deniedResponse({ status, headers, body }: Reply, call: OperationCall | null): PlainReply {
  const error = new GatewayError('response_denied', { status });
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return { kind: 'plain', status, headers: [...headers], body: bytes, json: null, error, retryAfterMs: null, call };
}

function noteVerdict(
  ctx: RequestContext,
  target: Target,
  plugin: string,
  verdict: Verdict,
  status: number,
  durationMs: number,
): void {
  ctx.verdicts ??= [];
  if (ctx.verdicts.length >= verdictsMax) return;
  ctx.verdicts.push({
    plugin,
    targetPath: target.path,
    attempt: ctx.attempts.length,
    action: verdict.action,
    status: statusOf(verdict, status),
    reason: verdict.reason?.slice(0, reasonCharactersMax) ?? null,
    durationMs: Math.max(0, durationMs),
  });
}

function statusOf(verdict: Verdict, status: number): number {
  if (verdict.action === 'deny') return verdict.reply.status;
  if (verdict.action === 'fail') return verdict.error.status;
  return verdict.action === 'change' ? (verdict.status ?? status) : status;
}

/** Errors that quote the provider. */
const quoting: ReadonlySet<string> = new Set(['upstream_status', 'upstream_invalid']);

/**
 * Runs the `onProviderError` hooks of the plan on the error of an attempt. Returns the reply with the text that they leave. Its status stays, so that
 * retries, fallback and clients see the error of the provider.
 */
export function judgeError(ctx: RequestContext, target: Target, given: AttemptReply, at = 0): Maybe<AttemptReply> {
  const hook = ctx.plan.onProviderError[at];
  if (!hook || ctx.aborted || given.kind === 'upgraded' || given.kind === 'replaced') return given;
  const { error } = given;
  if (error === null || !quoting.has(error.code) || (given.kind === 'streamed' && given.errorSent)) return given;
  const next = (body: JsonObject | null | undefined): Maybe<AttemptReply> => {
    const judged = body === undefined ? given : withBody(given, error, body ?? withheld(ctx, error));
    return judgeError(ctx, target, judged, at + 1);
  };
  const outcome = hook(ctx, shown(given, error), target);
  return isPromise(outcome) ? outcome.then(next) : next(outcome);
}

/** The error as a reply; errors that are no reply of the provider have their message in the form of one. */
function shown(given: AttemptReply, error: GatewayError): ProviderErrorReply {
  if (given.kind === 'plain') return { status: given.status, headers: given.headers, body: given.body };
  const body = Buffer.from(JSON.stringify({ error: { message: error.message } }));
  return { status: error.status, headers: ['content-type', 'application/json'], body };
}

function withheldText({ status }: GatewayError): string {
  return `The provider replied with an error (${status}). A guardrail withholds its text`;
}

function withheld({ endpoint }: RequestContext, error: GatewayError): JsonObject {
  const { status } = error;
  const message = withheldText(error);
  if (endpoint?.format === 'messages') return { type: 'error', error: { type: messagesErrorType(status, null), message } };
  const gemini = endpoint?.errorForm === 'gemini' ? geminiError({ status, message, reason: 'upstream_error' }) : {};
  return { error: { message, type: 'upstream_error', param: null, code: null, ...gemini } };
}

function withBody(given: AttemptReply, error: GatewayError, body: JsonObject): AttemptReply {
  const message = isObject(body.error) && typeof body.error.message === 'string' ? body.error.message : null;
  const judged = error.renamed(message ?? withheldText(error), error.param);
  if (given.kind !== 'plain') return { ...given, error: judged } as AttemptReply;
  const headers: HeaderList = ['content-length', 'content-encoding', 'content-type'].reduce(withoutHeader, given.headers);
  headers.push('content-type', 'application/json');
  return { ...given, headers, body: Buffer.from(JSON.stringify(body)), json: null, error: judged };
}

import type { RequestContext } from '../../contract/plugin/context.ts';
import type { JudgeHook, Target } from '../../contract/plugin/plan.ts';
import type { AttemptResponse, Reply, Verdict } from '../../contract/plugin/plugin.ts';
import type { OperationCall } from '../../contract/provider/provider.ts';
import type { Clock } from '../../contract/values/clock.ts';
import { GatewayError } from '../../contract/values/errors.ts';
import { withoutHeader } from '../../contract/values/http.ts';
import { isPromise, type Maybe } from '../../contract/values/json.ts';
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

/** Returns null if no plugin judges responses. */
export function judgeOf(ctx: RequestContext, target: Target, clock: Clock): Judge | null {
  if (ctx.plan.onAttemptResponse.length === 0) return null;
  return {
    head: (head) => judgeHead(ctx, target, head, clock),
    whole(reply, onLeft) {
      if (reply.kind !== 'plain' || reply.error !== null || ctx.aborted) return reply;
      // The attempt is recorded even if the client disconnects while a plugin decides.
      ctx.abortUpstream = () => {
        countRoughly(ctx, ctx.stream ? null : reply.body);
        onLeft(reply);
      };
      return judgeWhole(ctx, target, reply, clock).finally(() => {
        ctx.abortUpstream = null;
      });
    },
  };
}

/**
 * Runs the `onAttemptResponse` hooks of the plan on a whole response, in the client's format. Returns the reply as the verdicts change
 * it. The reply of `deny` and `fail` is that of a failed attempt. Throws what a hook throws.
 */
async function judgeWhole(ctx: RequestContext, target: Target, reply: PlainReply, clock: Clock): Promise<AttemptReply> {
  let judged = reply;
  for (const judge of ctx.plan.onAttemptResponse) {
    const { status, headers, body, json } = judged;
    const beganMs = clock.elapsed();
    const outcome = judge.hook(ctx, { status, headers, body, json }, target);
    const verdict = isPromise(outcome) ? await outcome : outcome;
    if (!verdict) continue;
    noteVerdict(ctx, target, judge.plugin, verdict, status, clock.elapsed() - beganMs);
    if (verdict.action === 'change') {
      const changed = typeof verdict.body === 'string' ? Buffer.from(verdict.body) : verdict.body;
      const remaining = withoutHeader(withoutHeader(headers, 'content-length'), 'content-encoding');
      judged = { ...judged, status: verdict.status ?? status, headers: remaining, body: changed, json: null };
    } else if (verdict.action !== 'pass') return failedReply(ctx, verdict, reply);
  }
  return judged;
}

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
  ctx.denyUsage();
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

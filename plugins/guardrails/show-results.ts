import type { RequestContext } from '../../core/contract/plugin/context.ts';
import { hooksFailed } from '../../core/contract/plugin/guardrails/hooks-failed.ts';
import type { Reply, ReplyHead } from '../../core/contract/plugin/plugin.ts';
import { findHeader } from '../../core/contract/values/http/http.ts';
import { isEventStream } from '../../core/contract/values/text/event-text.ts';
import type { Clock } from '../../core/contract/values/time/clock.ts';
import { resultsEvent, resultsMember, withHookResults, withMemberInFirstEvent } from './hook-results.ts';
import { hasFailed, type Observed, observedBytesMax, type State, softReplyOf } from './request-state.ts';

/** Sets status 246 on a reply with failed guardrails, and decides how it shows the results. Returns the reply of a soft denial. */
export function onReply(ctx: RequestContext, state: State, head: ReplyHead, clock: Clock): Reply | undefined {
  if (state.isDenied) return softReplyOf(ctx, state, clock);
  if (ctx.endpoint?.operation === null) return undefined;
  const type = findHeader(head.headers, 'content-type') ?? '';
  const isShownStream = isEventStream(type) && head.status < 300 && !isStrict(ctx);
  const format = ctx.endpoint?.format ?? 'plain';
  // OpenAI's SDK throws for unknown events of Responses. Clients of the other formats skip them or have stopped at [DONE].
  state.showsEnd = isShownStream && (format === 'chat' || format === 'messages');
  if (state.before.length === 0 && state.after.length === 0) return undefined;
  // Streams that are not held have their own status until here.
  if (head.status < 300 && hasFailed(state)) head.status = hooksFailed;
  if (isShownStream) {
    if (state.before.length > 0) showFirst(state, format);
    if (state.after.length > 0 && state.showsEnd) state.lastEvent = resultsEvent(format, 'after', state.after);
  }
  state.showsResults = /^application\/json\b/i.test(type) && findHeader(head.headers, 'content-encoding') === undefined;
  return undefined;
}

/** A hit of the cache shows the results of the request. Output guardrails have judged it when it was stored. */
export function onOwnReply(ctx: RequestContext, { before, isDenied }: State, reply: Reply): Reply {
  const isHit = ctx.cacheStatus?.endsWith('HIT') === true && reply.status === 200;
  if (!isHit || isDenied || before.length === 0 || ctx.endpoint?.operation === null) return reply;
  const body = Buffer.from(reply.body);
  const type = findHeader([...reply.headers], 'content-type') ?? '';
  const status = before.some(({ verdict }) => !verdict) ? hooksFailed : 200;
  if (/^application\/json\b/i.test(type)) return { ...reply, status, body: withHookResults(body, { before }) };
  if (!isEventStream(type) || isStrict(ctx)) return { ...reply, status };
  const format = ctx.endpoint?.format ?? 'plain';
  const shown =
    format === 'responses'
      ? withMemberInFirstEvent(body, resultsMember('before', before))
      : Buffer.concat([Buffer.from(resultsEvent(format, 'before', before)), body]);
  return { ...reply, status, body: shown };
}

/** Has a stream show the results of the request. Clients of Responses throw for an event of another type, so its first event gets a member. */
function showFirst(state: State, format: NonNullable<RequestContext['endpoint']>['format']): void {
  if (format === 'responses') state.firstMember = resultsMember('before', state.before);
  else state.firstEvent = resultsEvent(format, 'before', state.before);
}

/** Adds the results to a stream before its first event, or in it, and, if the stream is held, after its last one, or to a plain reply. */
export function onChunk(state: State, chunk: Uint8Array): Uint8Array {
  if (state.observed) observe(state.observed, chunk);
  const { firstEvent, lastEvent } = state;
  if (firstEvent !== null || lastEvent !== null) {
    state.firstEvent = null;
    state.lastEvent = null;
    return Buffer.concat([Buffer.from(firstEvent ?? ''), chunk, Buffer.from(lastEvent ?? '')]);
  }
  if (state.firstMember !== null) {
    const shown = withMemberInFirstEvent(chunk, state.firstMember);
    if (shown !== chunk) state.firstMember = null;
    return shown;
  }
  if (!state.showsResults) return chunk;
  state.showsResults = false;
  return withHookResults(chunk, state);
}

function observe(observed: Observed, chunk: Uint8Array): void {
  observed.bytes += chunk.length;
  if (observed.bytes <= observedBytesMax) observed.chunks.push(chunk);
  else observed.chunks.take();
}

/** Clients of the strict format receive no events of the gateway. */
function isStrict(ctx: RequestContext): boolean {
  const target = ctx.plan.targets.find(({ path }) => path === ctx.targetPath);
  return (ctx.requestTarget?.strict ?? target?.strict) !== false;
}

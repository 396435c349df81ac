import type { RequestContext } from '../../contract/plugin/context.ts';
import type { OutgoingCall } from '../../contract/provider/provider.ts';
import type { UpstreamTimeouts } from '../../contract/provider/upstream.ts';
import { isPromise, type Maybe } from '../../contract/values/json.ts';
import { encodeLarge } from '../request/large-json/large-json.ts';
import type { Outgoing } from './outgoing-call.ts';

/** Returns the call with its body written and its limits cut to the attempt's `timeMs` (Infinity: no cut). */
export function prepareCall(ctx: RequestContext, shaped: Outgoing, timeMs: number): Maybe<Outgoing> {
  const outgoing =
    timeMs === Number.POSITIVE_INFINITY
      ? shaped
      : { ...shaped, call: { ...shaped.call, timeouts: within(shaped.call.timeouts, timeMs) } };
  if (!outgoing.json) return outgoing;
  return encodeLarge(ctx, outgoing.json, ctx.requestBytes).then((body) => ({ ...outgoing, call: { ...outgoing.call, body } }));
}

/** Returns the call after `sign`, which may change headers, path and origin. */
export function signedCall(outgoing: Outgoing, sign: (call: OutgoingCall) => Maybe<void>): Maybe<Outgoing> {
  const { call } = outgoing;
  const draft: OutgoingCall = { ...call, headers: [...call.headers], body: call.body instanceof Uint8Array ? call.body : null };
  const signed = (): Outgoing => {
    const { headers, path, origin } = draft;
    return { ...outgoing, call: { ...call, headers, path, origin } };
  };
  const signing = sign(draft);
  return isPromise(signing) ? signing.then(signed) : signed();
}

/**
 * Returns the usual time limits, none of them longer than `timeMs`. A streamed reply may continue, because its clock stops at the
 * first byte.
 */
function within(timeouts: UpstreamTimeouts, timeMs: number): UpstreamTimeouts {
  const ms = Math.max(1, Math.ceil(timeMs));
  const least = (limit: number): number => (limit === 0 ? ms : Math.min(limit, ms));
  return {
    connectMs: least(timeouts.connectMs),
    firstByteMs: least(timeouts.firstByteMs),
    idleMs: timeouts.idleMs,
    totalMs: timeouts.totalMs === 0 ? 0 : least(timeouts.totalMs),
  };
}

import type { UpstreamTimeouts } from '../../contract/provider/upstream.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { Clock } from '../../contract/values/time/clock.ts';
import type { Timers } from '../../contract/values/time/timers.ts';
import { type Outgoing, within } from './outgoing-call.ts';

/**
 * Waits for the credential of a call as a part of its time limit, and shortens the limits of the call by the time waited. Rejects with
 * `request_timeout` when the limit is over. The request for the credential continues, because other calls may wait for it too.
 */
export async function signedInTime(
  signing: Promise<Outgoing>,
  { firstByteMs }: UpstreamTimeouts,
  clock: Clock,
  timers: Timers,
): Promise<Outgoing> {
  if (firstByteMs === 0) return signing;
  const beganMs = clock.elapsed();
  let cancel = (): void => {};
  const expiry = new Promise<never>((_, reject) => {
    cancel = timers.after(firstByteMs, () => reject(timedOut(firstByteMs)));
  });
  try {
    const outgoing = await Promise.race([signing, expiry]);
    const { call } = outgoing;
    return { ...outgoing, call: { ...call, timeouts: within(call.timeouts, firstByteMs - (clock.elapsed() - beganMs)) } };
  } finally {
    cancel();
  }
}

/** Clients match this text. */
function timedOut(ms: number): GatewayError {
  return new GatewayError('request_timeout', { message: `Request exceeded the timeout sent in the request: ${ms}ms` });
}

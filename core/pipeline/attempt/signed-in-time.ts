import type { UpstreamTimeouts } from '../../contract/provider/upstream.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { Clock } from '../../contract/values/time/clock.ts';
import type { Timers } from '../../contract/values/time/timers.ts';
import { within } from './outgoing-call.ts';

/**
 * Waits for the credential of a call as a part of its time limit. Returns the limits of the call without the time waited. Rejects with
 * `request_timeout` when the limit is over. The request for the credential continues, because other calls may wait for it too.
 */
export async function signedInTime(
  signing: Promise<unknown>,
  timeouts: UpstreamTimeouts,
  clock: Clock,
  timers: Timers,
): Promise<UpstreamTimeouts> {
  const { firstByteMs } = timeouts;
  const beganMs = clock.elapsed();
  if (firstByteMs === 0) {
    await signing;
    return timeouts;
  }
  let cancel = (): void => {};
  const expiry = new Promise<never>((_, reject) => {
    cancel = timers.after(firstByteMs, () => reject(timedOut(firstByteMs)));
  });
  try {
    await Promise.race([signing, expiry]);
    return within(timeouts, firstByteMs - (clock.elapsed() - beganMs));
  } finally {
    cancel();
  }
}

/** Clients match this text. */
function timedOut(ms: number): GatewayError {
  return new GatewayError('request_timeout', { message: `Request exceeded the timeout sent in the request: ${ms}ms` });
}

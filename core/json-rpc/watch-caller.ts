import type { RequestContext } from '../contract/plugin/context.ts';
import { type GatewayError, toGatewayError } from '../contract/values/errors/errors.ts';
import type { Maybe } from '../contract/values/maybe.ts';
import { realTimers, type Timers } from '../contract/values/time/timers.ts';
import { firstError } from '../pipeline/session-verdict.ts';

/** Time between two checks, as of WebSocket sessions. */
const lookMs = 1_000;

/**
 * Calls `end` once if the caller of an open stream may not read it any more: its credential was revoked, or `find`, which looks up the
 * server again, throws an error with status 401, 403 or 404. Any other error, such as an unreachable control plane, ends no stream.
 * Returns a function that stops the checks.
 */
export function watchCaller(
  ctx: RequestContext,
  find: () => Maybe<unknown>,
  end: (error: GatewayError) => void,
  timers: Timers = realTimers,
): () => void {
  let isOver = false;
  let cancel = wait();
  return () => {
    isOver = true;
    cancel();
  };

  function wait(): () => void {
    return timers.after(lookMs, () => void look());
  }

  async function look(): Promise<void> {
    const error = await refusal();
    if (isOver) return;
    if (error === null) cancel = wait();
    else end(error);
  }

  async function refusal(): Promise<GatewayError | null> {
    try {
      const error = await firstError(ctx, ctx.plan.onSessionLook);
      if (error) return error;
      await find();
      return null;
    } catch (thrown) {
      const error = toGatewayError(thrown);
      return [401, 403, 404].includes(error.status) ? error : null;
    }
  }
}

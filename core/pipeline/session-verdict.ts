import type { RequestContext } from '../contract/plugin/context.ts';
import type { HookList } from '../contract/plugin/plan.ts';
import type { GatewayError } from '../contract/values/errors/errors.ts';
import { isPromise } from '../contract/values/maybe.ts';

/** Returns the first error of a plugin about an open session or stream; the plugins run in order. */
export async function firstError(
  ctx: RequestContext,
  hooks: HookList<'onSessionUsage' | 'onSessionLook'>,
): Promise<GatewayError | null> {
  for (const hook of hooks) {
    const outcome = hook(ctx);
    const error = isPromise(outcome) ? await outcome : outcome;
    if (error) return error;
  }
  return null;
}

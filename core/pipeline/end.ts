import type { Outcome, RequestContext } from '../contract/context.ts';
import { reasonOf } from '../contract/errors.ts';
import type { Log } from '../contract/plugin.ts';
import type { PlanStore } from './plan-store.ts';

/**
 * The last step of every request: `onEnd` of every plugin that has one, exactly once, whatever happened. A hook that throws is
 * logged and the others still run. Safe to call again: the first outcome counts.
 */
export function endRequest(ctx: RequestContext, outcome: Outcome, plans: PlanStore, log: Log): void {
  if (ctx.ended) return;
  ctx.ended = true;
  for (const hook of ctx.plan.onEnd) {
    try {
      hook(ctx, outcome);
    } catch (thrown) {
      log.error({ requestId: ctx.id, reason: reasonOf(thrown) }, 'onEnd of a plugin threw');
    }
  }
  plans.leave(ctx);
}

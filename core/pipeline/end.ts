import type { Outcome, RequestContext } from '../contract/plugin/context.ts';
import { reasonOf } from '../contract/values/errors.ts';
import type { Log } from '../contract/values/log.ts';
import { sumUsage } from '../contract/values/usage.ts';
import type { PlanStore } from './plan/plan-store.ts';

/**
 * The last step of every request: `onEnd` of every plugin that has one, exactly once, whatever happened. A hook that throws is
 * logged and the others still run. Safe to call again: the first outcome counts.
 */
export function endRequest(ctx: RequestContext, outcome: Outcome, plans: PlanStore, log: Log): void {
  if (ctx.ended) return;
  ctx.ended = true;
  if (ctx.deniedUsage !== null) ctx.usage = sumUsage(ctx.usage === null ? ctx.deniedUsage : [...ctx.deniedUsage, ctx.usage]);
  for (const hook of ctx.plan.onEnd) {
    try {
      hook(ctx, outcome);
    } catch (thrown) {
      log.error({ requestId: ctx.id, reason: reasonOf(thrown) }, 'onEnd of a plugin failed');
    }
  }
  plans.leave(ctx);
}

import * as v from 'valibot';
import type { AttemptResult } from '../../core/contract/context.ts';
import type { GatewayConfig } from '../../core/contract/gateway-config.ts';
import type { Target } from '../../core/contract/plan.ts';
import { definePlugin } from '../../core/contract/plugin.ts';
import { fallback } from './fallback.ts';
import type { Node } from './node.ts';
import { single } from './single.ts';

/** Which target is asked first, and which one after a failure. Modes nest in any order; no mode does I/O. */
export const strategies = definePlugin({
  name: 'strategies',
  stage: 'strategy',
  // The schema of the whole config has checked `strategy` and `targets` already: they shape the plan itself.
  config: v.optional(v.strictObject({})),
  onConfig(_config, scope) {
    const root = compileNode(scope.config, scope.targets, { next: 0 });
    return { onTarget: (_ctx, last) => (last === null ? root.first() : root.next(last)) };
  },
});

/** Walks the config in the order in which its leaves were numbered. */
function compileNode(config: GatewayConfig, targets: readonly Target[], cursor: { next: number }): Node {
  const from = cursor.next;
  if (!config.targets) {
    cursor.next++;
    return leaf(targets[from] ?? null, from);
  }
  const children = config.targets.map((child) => compileNode(child, targets, cursor));
  const range = { from, to: cursor.next };
  return config.strategy?.mode === 'fallback'
    ? fallback(children, range, config.strategy.on_status_codes ?? null)
    : single(children, range);
}

function leaf(target: Target | null, index: number): Node {
  return { from: index, to: index + 1, first: () => target, next: (_last: AttemptResult) => null };
}

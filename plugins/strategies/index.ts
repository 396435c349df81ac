import * as v from 'valibot';
import type { GatewayConfig } from '../../core/contract/gateway-config.ts';
import type { Target } from '../../core/contract/plan.ts';
import { definePlugin, type Services } from '../../core/contract/plugin.ts';
import { conditional } from './conditional.ts';
import { fallback } from './fallback.ts';
import { loadbalance } from './loadbalance.ts';
import type { Node } from './node.ts';
import { single } from './single.ts';

/** Which target is asked first, and which one after a failure. Modes nest in any order; no mode does I/O. */
export const strategies = definePlugin({
  name: 'strategies',
  stage: 'strategy',
  // The schema of the whole config has checked `strategy` and `targets` already: they shape the plan itself.
  config: v.optional(v.strictObject({})),
  onConfig(_config, scope, services) {
    const root = compileNode(scope.config, scope.targets, { next: 0 }, services);
    return { onTarget: (ctx, last) => (last === null ? root.first(ctx) : root.next(ctx, last)) };
  },
});

/** Walks the config in the order in which its leaves were numbered. */
function compileNode(config: GatewayConfig, targets: readonly Target[], cursor: { next: number }, services: Services): Node {
  const from = cursor.next;
  if (!config.targets || !config.strategy) {
    cursor.next++;
    return leaf(targets[from] ?? null, from);
  }
  const { strategy } = config;
  const children = config.targets.map((child) => compileNode(child, targets, cursor, services));
  const range = { from, to: cursor.next };
  switch (strategy.mode) {
    case 'fallback':
      return fallback(children, range, strategy.on_status_codes ?? null);
    case 'loadbalance':
      return loadbalance(
        children,
        range,
        strategy,
        config.targets.map((child) => child.weight ?? 1),
        services,
      );
    case 'conditional':
      return conditional(
        children,
        range,
        strategy,
        config.targets.map((child) => child.name),
      );
    case 'single':
      return single(children, range);
  }
}

function leaf(target: Target | null, index: number): Node {
  return { from: index, to: index + 1, first: () => target, next: () => null };
}

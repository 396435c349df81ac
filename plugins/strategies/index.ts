import * as v from 'valibot';
import type { GatewayConfig } from '../../core/contract/gateway-config.ts';
import type { BreakerSettings } from '../../core/contract/health.ts';
import type { Target } from '../../core/contract/plan.ts';
import { definePlugin, type PlanScope, type Services } from '../../core/contract/plugin.ts';
import type { StrategyConfig } from '../../core/contract/strategy-config.ts';
import { inheritedBreaker, watchBreaker } from './breakers.ts';
import { candidatesOf, openWhenAllAre } from './candidates.ts';
import { conditional } from './conditional.ts';
import { fallback } from './fallback.ts';
import { eligibleOf, loadbalance } from './loadbalance.ts';
import type { Node } from './node.ts';
import { createOutliers, type Outliers } from './outlier.ts';
import { single } from './single.ts';
import { Watches } from './watch.ts';

/** Which target is asked first, and which one after a failure. Modes nest in any order; no mode does I/O. */
export const strategies = definePlugin({
  name: 'strategies',
  stage: 'strategy',
  // The schema of the whole config has checked `strategy` and `targets` already: they shape the plan itself.
  config: v.optional(v.strictObject({})),
  onConfig(_config, scope, services) {
    const watches = new Watches();
    const root = compileNode(scope.config, 'config', null, { scope, services, watches, nextTarget: 0 });
    return { onTarget: (ctx, last) => (last === null ? root.first(ctx) : root.next(ctx, last)), ...watches.hooks() };
  },
});

/** What the walk through one config shares. */
interface Walk {
  readonly scope: PlanScope;
  readonly services: Services;
  readonly watches: Watches;
  /** Index of the next leaf. */
  nextTarget: number;
}

/** Walks the config in the order in which its leaves were numbered; `breaker`: what holds from above. */
function compileNode(config: GatewayConfig, path: string, breaker: BreakerSettings | null, walk: Walk): Node {
  const from = walk.nextTarget;
  const { strategy, targets } = config;
  if (!targets || !strategy) {
    walk.nextTarget++;
    return leaf(walk.scope.targets[from] ?? null, from, path, breaker, walk);
  }
  const below = inheritedBreaker(strategy, breaker);
  const children = targets.map((child, index) => compileNode(child, `${path}.targets[${index}]`, below, walk));
  return compileStrategy(strategy, targets, children, { from, to: walk.nextTarget, path }, walk);
}

function compileStrategy(
  strategy: StrategyConfig,
  targets: readonly GatewayConfig[],
  children: readonly Node[],
  range: { from: number; to: number; path: string },
  { services, watches }: Walk,
): Node {
  const outliers = strategy.outlier ? watchOutliers(strategy.outlier, children, watches, services) : null;
  const isOpen = openWhenAllAre(children);
  switch (strategy.mode) {
    case 'fallback': {
      const candidates = candidatesOf(children, [...children.keys()], outliers);
      return { ...fallback(children, range, strategy.on_status_codes ?? null, candidates), isOpen };
    }
    case 'loadbalance': {
      const weights = targets.map((child) => child.weight ?? 1);
      const capacities = targets.map((child) => child.capacity);
      const candidates = candidatesOf(children, eligibleOf(weights), outliers);
      return {
        ...loadbalance({ strategy, children, range, weights, capacities, candidates, watches, services }),
        isOpen: openWhenAllAre(children.filter((_child, index) => weights[index] !== 0)),
      };
    }
    case 'conditional':
      return conditional(
        children,
        range,
        strategy,
        targets.map((child) => child.name),
      );
    case 'single':
      return single(children, range);
  }
}

function watchOutliers(
  config: NonNullable<StrategyConfig['outlier']>,
  children: readonly Node[],
  watches: Watches,
  services: Services,
): Outliers {
  const outliers = createOutliers(config, children.length, services.clock);
  watches.addChildren(children, (child) => () => (last) => outliers.observe(child, last));
  return outliers;
}

/** A target; with a circuit where one is asked for and the target is a stored provider of a saved config. */
function leaf(target: Target | null, index: number, path: string, settings: BreakerSettings | null, walk: Walk): Node {
  const node: Node = { from: index, to: index + 1, path, first: () => target, next: () => null };
  const { stateKey } = walk.scope;
  if (settings === null || stateKey === null || !target?.provider?.startsWith('@')) return node;
  const breaker = walk.services.health.breaker(stateKey, path, settings);
  walk.watches.add(index, watchBreaker(breaker, settings, path));
  return { ...node, isOpen: () => breaker.isOpen() };
}

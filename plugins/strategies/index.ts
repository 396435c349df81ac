import * as v from 'valibot';
import type { GatewayConfig } from '../../core/contract/plugin/config/gateway-config.ts';
import type { RouteExplanation } from '../../core/contract/plugin/config/route-explanation.ts';
import { asksFor, inputTokensField, isParam } from '../../core/contract/plugin/config/routing-query.ts';
import type { StrategyConfig } from '../../core/contract/plugin/config/strategy-config.ts';
import type { RequestContext } from '../../core/contract/plugin/context.ts';
import {
  type CoreHooks,
  type CorePlanScope,
  type CorePlugin,
  type CoreServices,
  defineCorePlugin,
} from '../../core/contract/plugin/core-plugin.ts';
import type { Target } from '../../core/contract/plugin/plan.ts';
import { sendLastNames } from '../../core/contract/plugin/requests/names-twice.ts';
import type { BreakerSettings } from '../../core/contract/plugin/services/circuits.ts';
import { after, isPromise, type Maybe } from '../../core/contract/values/maybe.ts';
import { inheritedBreaker, watchBreaker } from './breakers.ts';
import { candidatesOf, openWhenAllAre } from './candidates.ts';
import { conditional } from './conditional.ts';
import { fallback } from './fallback.ts';
import { countInputTokens } from './input-tokens.ts';
import { eligibleOf, loadbalance } from './loadbalance.ts';
import type { Node, Range } from './node.ts';
import { createOutliers, type Outliers } from './outlier.ts';
import { readField } from './read-field.ts';
import { single } from './single.ts';
import { warningsOf, warningsOfRoot } from './warnings.ts';
import { Watches } from './watch.ts';

/** Chooses the first target of a request, and the next one after a failure. Modes nest in any order; no mode does I/O. */
export const strategies = (): CorePlugin =>
  defineCorePlugin({
    name: 'strategies',
    stage: 'strategy',
    // The schema of the whole config has checked `strategy` and `targets` already: they shape the plan itself.
    config: v.optional(v.strictObject({})),
    onConfig(_config, scope, services) {
      const watches = new Watches();
      const walk: Walk = {
        scope,
        services,
        watches,
        warnings: warningsOfRoot(scope.config),
        nextTarget: 0,
        countsTokens: false,
        readsParams: false,
      };
      const root = compileNode(scope.config, 'config', null, walk);
      return {
        readsParams: walk.readsParams,
        ...(walk.countsTokens || walk.readsParams ? { onRequest: (ctx) => prepare(ctx, walk) } : undefined),
        onTarget: (ctx, last) => (last === null ? root.first(ctx) : root.next(ctx, last)),
        movesOn: (ctx, targetIndex, status) => root.movesOn(ctx, targetIndex, status),
        ...watches.hooks(),
        onExplain(ctx) {
          const counting = walk.countsTokens ? countInputTokens(ctx, services) : undefined;
          return isPromise(counting) ? counting.then(() => explain(root, ctx, walk)) : explain(root, ctx, walk);
        },
      } satisfies CoreHooks;
    },
  });

/** Prepares the parameters that conditions read. The provider must receive the same values. */
function prepare(ctx: RequestContext, { countsTokens, services }: Walk): Maybe<void> {
  return after(sendLastNames(ctx), () => (countsTokens ? countInputTokens(ctx, services) : undefined));
}

function explain(root: Node, ctx: RequestContext, { warnings }: Walk): RouteExplanation {
  // An explanation must not add to the decisions noted for sent requests.
  const { decisions } = ctx;
  ctx.decisions = null;
  const { strategy, first, reachable } = root.explain(ctx);
  ctx.decisions = decisions;
  return { strategy, first, reachable, warnings };
}

/** State shared by the walk through one config. */
interface Walk {
  readonly scope: CorePlanScope;
  readonly services: CoreServices;
  readonly watches: Watches;
  /** Warnings of `explain` about the config itself. */
  readonly warnings: string[];
  /** Index of the next leaf. */
  nextTarget: number;
  /** True if a condition needs the tokens of a request. */
  countsTokens: boolean;
  /** True if a condition, or the identity of a sticky choice, needs parameters. */
  readsParams: boolean;
}

/** Visits the config in the order in which its leaves were numbered. `breaker`: the inherited settings. */
function compileNode(config: GatewayConfig, path: string, breaker: BreakerSettings | null, walk: Walk): Node {
  const from = walk.nextTarget;
  const { strategy, targets } = config;
  if (!targets || !strategy) {
    walk.nextTarget++;
    const own = strategy ? inheritedBreaker(strategy, breaker) : breaker;
    return leaf(walk.scope.targets[from] ?? null, config.name, { from, to: from + 1, path }, own, walk);
  }
  const below = inheritedBreaker(strategy, breaker);
  const children = targets.map((child, index) => compileNode(child, `${path}.targets[${index}]`, below, walk));
  walk.warnings.push(...warningsOf(strategy, targets, path, walk.scope.stateKey !== null));
  return { ...compileStrategy(strategy, targets, children, { from, to: walk.nextTarget, path }, walk), name: config.name };
}

function compileStrategy(
  strategy: StrategyConfig,
  targets: readonly GatewayConfig[],
  children: readonly Node[],
  range: { from: number; to: number; path: string },
  walk: Walk,
): Node {
  const { services, watches } = walk;
  const outliers = strategy.outlier ? watchOutliers(strategy.outlier, children, watches, services) : null;
  const isOpen = openWhenAllAre(children);
  switch (strategy.mode) {
    case 'fallback': {
      const candidates = candidatesOf(children, [...children.keys()], outliers);
      const statusCodes = targets.map((child) => child.on_status_codes ?? strategy.on_status_codes ?? null);
      return { ...fallback(children, range, statusCodes, candidates), isOpen };
    }
    case 'loadbalance': {
      if (strategy.sticky?.hash_fields?.some(isParam)) walk.readsParams = true;
      const weights = targets.map((child) => child.weight ?? 1);
      const capacities = targets.map((child) => child.capacity);
      const candidates = candidatesOf(children, eligibleOf(weights), outliers);
      return {
        ...loadbalance({ strategy, children, range, weights, capacities, candidates, watches, services }),
        isOpen: openWhenAllAre(children.filter((_child, index) => weights[index] !== 0)),
      };
    }
    case 'conditional':
      for (const { query } of strategy.conditions ?? []) {
        if (asksFor(query, (field) => field === inputTokensField)) walk.countsTokens = true;
        if (asksFor(query, isParam)) walk.readsParams = true;
      }
      return conditional(children, range, strategy, (ctx) => (field) => readField(ctx, field));
    case 'single':
      return single(children, range);
  }
}

function watchOutliers(
  config: NonNullable<StrategyConfig['outlier']>,
  children: readonly Node[],
  watches: Watches,
  services: CoreServices,
): Outliers {
  const outliers = createOutliers(config, children.length, services.clock);
  watches.addChildren(children, (child) => () => (last) => outliers.observe(child, last));
  return outliers;
}

/** Adds a target. It has a circuit if one is configured and the target is a stored provider of a saved config. */
function leaf(target: Target | null, name: string | undefined, range: Range, settings: BreakerSettings | null, walk: Walk): Node {
  const node: Node = {
    ...range,
    name,
    first: () => target,
    next: () => null,
    movesOn: () => false,
    explain: () => ({ first: [1], reachable: [true], strategy: null }),
  };
  const { stateKey } = walk.scope;
  if (settings === null || stateKey === null) return node;
  const { path } = range;
  if (!target?.provider?.startsWith('@')) {
    walk.warnings.push(`${path}: cb_config has no effect here, because the target names no stored provider (@slug)`);
    return node;
  }
  const breaker = walk.services.circuits.breaker(stateKey, path, settings);
  walk.watches.add(range.from, watchBreaker(breaker, settings, path));
  return { ...node, isOpen: () => breaker.isOpen() };
}

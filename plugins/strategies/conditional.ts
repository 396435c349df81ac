import type { ConditionTrace } from '../../core/contract/plugin/config/route-explanation.ts';
import {
  compileQuery,
  explainQuery,
  type PatternCosts,
  type ReadField,
} from '../../core/contract/plugin/config/routing-query.ts';
import type { StrategyConfig } from '../../core/contract/plugin/config/strategy-config.ts';
import type { RequestContext } from '../../core/contract/plugin/context.ts';
import { GatewayError } from '../../core/contract/values/errors/errors.ts';
import { certainly, type Decision } from './explain.ts';
import { type Node, pickOne, type Range } from './node.ts';

const refusal = 'Query router did not resolve to any valid target: no condition matches and strategy.default is not set';

/**
 * Selects the target of the first condition that holds, otherwise the default. Names and queries were checked with the config.
 * `readerOf` returns the fields of a request. Throws `bad_request` if no condition holds and there is no default.
 */
export function conditional(
  children: readonly Node[],
  range: Range,
  strategy: StrategyConfig,
  readerOf: (ctx: RequestContext) => ReadField,
): Node {
  const names = children.map((child) => child.name);
  const costs: PatternCosts = { size: 0 };
  const conditions = (strategy.conditions ?? []).map(({ query, then }, index) => ({
    holds: compileQuery(query, `strategy.conditions[${index}].query`, costs),
    query,
    then,
    target: names.indexOf(then),
  }));
  const fallThrough = strategy.default === undefined ? null : names.indexOf(strategy.default);

  function pick(ctx: RequestContext): number {
    const read = readerOf(ctx);
    for (const condition of conditions) if (condition.holds(read)) return condition.target;
    if (fallThrough !== null) return fallThrough;
    throw new GatewayError('bad_request', { message: refusal, param: 'strategy.conditions' });
  }

  function explain(ctx: RequestContext): Decision {
    const read = readerOf(ctx);
    const asked: ConditionTrace[] = [];
    let chosen: number | null = null;
    for (const { query, then, target } of conditions) {
      const trace = explainQuery(query, read);
      asked.push({ then, holds: trace.holds, trace });
      if (!trace.holds) continue;
      chosen = target;
      break;
    }
    const holds = chosen !== null;
    chosen ??= fallThrough;
    const last = asked.length - 1;
    const otherwise =
      fallThrough === null ? 'no condition matches and strategy.default is not set' : 'no condition matches: strategy.default';
    return {
      mode: 'conditional',
      why: holds ? `conditions[${last}] holds: ${asked[last]?.then}` : otherwise,
      first: certainly(chosen, children),
      more: { conditions: asked, ...(chosen === null ? { refusal } : undefined) },
    };
  }

  return pickOne(children, range, pick, explain);
}

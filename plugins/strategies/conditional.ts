import type { RequestContext } from '../../core/contract/context.ts';
import { GatewayError } from '../../core/contract/errors.ts';
import { compileQuery } from '../../core/contract/routing-query.ts';
import type { StrategyConfig } from '../../core/contract/strategy-config.ts';
import { type Node, pickOne, type Range } from './node.ts';
import { readField } from './read-field.ts';

/**
 * The target named by the first condition that holds, else the default. Names and queries were checked with the config.
 * `bad_request` when nothing holds and there is no default.
 */
export function conditional(
  children: readonly Node[],
  range: Range,
  strategy: StrategyConfig,
  names: readonly (string | undefined)[],
): Node {
  const conditions = (strategy.conditions ?? []).map((condition, index) => ({
    holds: compileQuery(condition.query, `strategy.conditions[${index}].query`),
    target: names.indexOf(condition.then),
  }));
  const fallThrough = strategy.default === undefined ? null : names.indexOf(strategy.default);
  return pickOne(children, range, (ctx: RequestContext) => {
    const read = (field: string): unknown => readField(ctx, field);
    for (const condition of conditions) if (condition.holds(read)) return condition.target;
    if (fallThrough !== null) return fallThrough;
    throw new GatewayError('bad_request', {
      message: 'Query router did not resolve to any valid target: no condition holds and strategy.default is not set',
      param: 'strategy.conditions',
    });
  });
}

import type { AttemptResult, RequestContext } from '../../core/contract/plugin/context.ts';
import type { Candidates } from './candidates.ts';
import { certainly, orderedBy, viewOf } from './explain.ts';
import { childOf, isMissing, type Node, type Range } from './node.ts';

/**
 * Calls targets in order. Moves on from a child if the status is in its own list in `statusCodes`, or, without a list, if it is
 * not 2xx. A target whose provider does not exist is always skipped. A disconnected client needs no other target. With
 * `candidates`, targets with an open circuit are left out and those in cooldown come last.
 */
export function fallback(
  children: readonly Node[],
  range: Range,
  statusCodes: readonly (readonly number[] | null)[],
  candidates: ((ctx: RequestContext) => Candidates) | null,
): Node {
  const all: Candidates = { good: [...children.keys()], cooling: [] };
  const after = candidates === null ? (_ctx: RequestContext, at: number) => at + 1 : orderOf(candidates);
  const childAt = (ctx: RequestContext, index: number | undefined) =>
    index === undefined ? null : (children[index]?.first(ctx) ?? null);
  return {
    ...range,
    first: (ctx) => childAt(ctx, after(ctx, -1)),
    next(ctx, last) {
      const at = childOf(children, last.targetIndex);
      const inner = children[at]?.next(ctx, last) ?? null;
      if (inner) return inner;
      return failed(last, statusCodes[at] ?? null) ? childAt(ctx, after(ctx, at)) : null;
    },
    movesOn(ctx, targetIndex, status) {
      const at = childOf(children, targetIndex);
      if (children[at]?.movesOn(ctx, targetIndex, status)) return true;
      return isFailure(status, status < 300, statusCodes[at] ?? null) && children[after(ctx, at) ?? -1] !== undefined;
    },
    explain(ctx) {
      const { good, cooling } = candidates === null ? all : candidates(ctx);
      return viewOf(ctx, children, range, {
        mode: 'fallback',
        why: 'targets in order until one succeeds',
        first: certainly(good[0] ?? cooling[0] ?? null, children),
        order: orderedBy({ good, cooling }, children),
        cooling: candidates === null ? undefined : cooling,
        ofBranch: (child) => {
          const moves = statusCodes[child] ?? null;
          return moves === null ? {} : { movesOnAfter: moves };
        },
      });
    },
  };
}

/** Returns the child after this one (-1: the first). The order of a request is fixed when it begins. */
function orderOf(candidates: (ctx: RequestContext) => Candidates): (ctx: RequestContext, at: number) => number | undefined {
  const orders = new WeakMap<RequestContext, readonly number[]>();
  return (ctx, at) => {
    let order = orders.get(ctx);
    if (order === undefined) {
      const { good, cooling } = candidates(ctx);
      order = [...good, ...cooling];
      orders.set(ctx, order);
    }
    return order[order.indexOf(at) + 1];
  };
}

function failed(last: AttemptResult, statusCodes: readonly number[] | null): boolean {
  if (last.error?.code === 'client_closed') return false;
  if (isMissing(last)) return true;
  return isFailure(last.status, last.ok, statusCodes);
}

function isFailure(status: number, ok: boolean, statusCodes: readonly number[] | null): boolean {
  return statusCodes ? statusCodes.includes(status) : !ok;
}

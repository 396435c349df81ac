import type { AttemptResult } from '../../core/contract/context.ts';
import { childOf, type Node, type Range } from './node.ts';

/**
 * Targets in order. Moves on when the status is in `statusCodes`, or, without a list, when it is not 2xx. A client that has
 * left needs no other target.
 */
export function fallback(children: readonly Node[], range: Range, statusCodes: readonly number[] | null): Node {
  return {
    ...range,
    first: (ctx) => (children[0] as Node).first(ctx),
    next(ctx, last) {
      const at = childOf(children, last);
      const inner = children[at]?.next(ctx, last) ?? null;
      if (inner) return inner;
      if (!failed(last, statusCodes)) return null;
      return children[at + 1]?.first(ctx) ?? null;
    },
  };
}

function failed(last: AttemptResult, statusCodes: readonly number[] | null): boolean {
  if (last.error?.code === 'client_closed') return false;
  return statusCodes ? statusCodes.includes(last.status) : !last.ok;
}

import type { AttemptResult } from '../../core/contract/context.ts';
import type { Node } from './node.ts';

/**
 * Targets in order. Moves on when the status is in `statusCodes`, or, without a list, when it is not 2xx. A fault of the
 * caller found before any provider was asked stands: another target would only repeat it.
 */
export function fallback(
  children: readonly Node[],
  range: { from: number; to: number },
  statusCodes: readonly number[] | null,
): Node {
  return {
    ...range,
    first: () => (children[0] as Node).first(),
    next(last) {
      const at = children.findIndex((child) => last.targetIndex >= child.from && last.targetIndex < child.to);
      const inner = children[at]?.next(last) ?? null;
      if (inner) return inner;
      if (!failed(last, statusCodes)) return null;
      return children[at + 1]?.first() ?? null;
    },
  };
}

function failed(last: AttemptResult, statusCodes: readonly number[] | null): boolean {
  if (last.error?.code === 'client_closed') return false;
  return statusCodes ? statusCodes.includes(last.status) : !last.ok;
}

import { certainly, viewOf } from './explain.ts';
import type { Node, Range } from './node.ts';

/** Calls the first target only. */
export function single(children: readonly Node[], range: Range): Node {
  const child = children[0] as Node;
  return {
    ...range,
    first: (ctx) => child.first(ctx),
    next: (ctx, last) => child.next(ctx, last),
    movesOn: (ctx, targetIndex, status) => child.movesOn(ctx, targetIndex, status),
    isOpen: child.isOpen,
    explain: (ctx) =>
      viewOf(ctx, children, range, { mode: 'single', why: 'the first target only', first: certainly(0, children) }),
  };
}

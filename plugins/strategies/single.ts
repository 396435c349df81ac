import type { Node } from './node.ts';

/** The first target, and no other. */
export function single(children: readonly Node[], range: { from: number; to: number }): Node {
  const child = children[0] as Node;
  return { ...range, first: () => child.first(), next: (last) => child.next(last) };
}

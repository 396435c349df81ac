import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { Node } from './node.ts';
import type { Outliers } from './outlier.ts';

/** The children that a request may be sent to, as indices in the order of the config. */
export interface Candidates {
  /** True if the target is neither open nor cooling down. */
  readonly good: readonly number[];
  /** Children in cooldown, called after all others. */
  readonly cooling: readonly number[];
}

/**
 * Returns the children to consider now: those without an open circuit, or all of them if every circuit is open. Null if no child
 * has a circuit and outlier detection is off, so that every child is always considered. `eligible`: the indices that may be
 * chosen.
 */
export function candidatesOf(
  children: readonly Node[],
  eligible: readonly number[],
  outliers: Outliers | null,
): ((ctx: RequestContext) => Candidates) | null {
  if (outliers === null && children.every((child) => child.isOpen === undefined)) return null;
  return (ctx) => {
    const pathOf = (index: number): string => (children[index] as Node).path;
    const open = eligible.filter((index) => children[index]?.isOpen?.());
    const isBypassed = open.length === eligible.length;
    for (const index of open) ctx.decide(pathOf(index), isBypassed ? 'circuit_bypassed' : 'circuit_open');
    const considered = isBypassed ? eligible : eligible.filter((index) => !open.includes(index));
    if (outliers === null) return { good: considered, cooling: [] };
    const cooling = considered.filter((index) => outliers.isCooling(index));
    for (const index of cooling) ctx.decide(pathOf(index), 'cooling_down');
    return { good: considered.filter((index) => !cooling.includes(index)), cooling };
  };
}

/** Returns the check that the circuits of all children are open. Undefined if a child has no circuit. */
export function openWhenAllAre(children: readonly Node[]): (() => boolean) | undefined {
  const asks = children.map((child) => child.isOpen);
  if (asks.some((ask) => ask === undefined)) return undefined;
  return () => asks.every((ask) => ask?.());
}

import type { BranchExplanation, StrategyExplanation } from '../../core/contract/plugin/config/route-explanation.ts';
import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { Candidates } from './candidates.ts';
import type { Node, Range } from './node.ts';

/** The route of a request below one node. The lists are by target, from the node's `from` on. */
export interface View {
  /** Probability (0 to 1) of each target to be called first, if this node is reached. */
  readonly first: readonly number[];
  /** True if the request could reach the target. */
  readonly reachable: readonly boolean[];
  /** Null for a target. */
  readonly strategy: StrategyExplanation | null;
}

/** The decision of one strategy about its own children. The lists are by child. */
export interface Decision {
  readonly mode: StrategyExplanation['mode'];
  readonly why: string;
  readonly first: readonly number[];
  /** Position in the order of calls, from 1 on; null = not called. Absent: only the chosen child is called. */
  readonly order?: readonly (number | null)[];
  /** Indices of the children in cooldown, which come last; absent if outlier detection is off. */
  readonly cooling?: readonly number[] | undefined;
  readonly more?: Partial<StrategyExplanation>;
  readonly ofBranch?: (child: number) => Partial<BranchExplanation>;
}

/** The explanation of a strategy: its decision, and those of its children. */
export function viewOf(ctx: RequestContext, children: readonly Node[], range: Range, decision: Decision): View {
  const views = children.map((child) => child.explain(ctx));
  const isReached = (child: number) => (decision.order ? decision.order[child] !== null : (decision.first[child] as number) > 0);
  return {
    first: views.flatMap((view, child) => view.first.map((share) => share * (decision.first[child] as number))),
    reachable: views.flatMap((view, child) => view.reachable.map((reachable) => reachable && isReached(child))),
    strategy: {
      path: range.path,
      mode: decision.mode,
      why: decision.why,
      ...decision.more,
      targets: children.map((child, index) => branchOf(child, index, views[index] as View, decision)),
    },
  };
}

function branchOf(child: Node, index: number, view: View, decision: Decision): BranchExplanation {
  const first = decision.first[index] as number;
  return {
    path: child.path,
    ...(child.name === undefined ? undefined : { name: child.name }),
    ...decision.ofBranch?.(index),
    first,
    order: decision.order ? (decision.order[index] ?? null) : first === 1 ? 1 : null,
    ...(child.isOpen ? { circuit: child.isOpen() ? 'open' : 'closed' } : undefined),
    ...(decision.cooling ? { coolingDown: decision.cooling.includes(index) } : undefined),
    ...(view.strategy ? { strategy: view.strategy } : undefined),
  };
}

/** 1 for the child that is chosen, 0 for the others. */
export function certainly(chosen: number | null, children: readonly Node[]): number[] {
  return children.map((_child, index) => (index === chosen ? 1 : 0));
}

/** The children in the order in which they would be called, and those in cooldown. */
export function orderedBy({ good, cooling }: Candidates, children: readonly Node[]): (number | null)[] {
  const order = [...good, ...cooling];
  return children.map((_child, index) => (order.includes(index) ? order.indexOf(index) + 1 : null));
}

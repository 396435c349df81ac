import type { AttemptResult, RequestContext } from '../../core/contract/plugin/context.ts';
import type { Target } from '../../core/contract/plugin/plan.ts';
import { type Decision, type View, viewOf } from './explain.ts';

/**
 * One node of a compiled strategy tree. The position of a request is the target of its last attempt, whose index lies in [`from`,
 * `to`) of exactly one child. Each request calls `first` of a node at most once.
 */
export interface Node extends Range {
  first(ctx: RequestContext): Target | null;
  /** Returns the next target after this result; null if no target is left or the result is final. */
  next(ctx: RequestContext, last: AttemptResult): Target | null;
  /** Returns true if another target follows when this target responds with this status. Chooses nothing. */
  movesOn(ctx: RequestContext, targetIndex: number, status: number): boolean;
  /** Returns true while all circuits below are open, so that the parent skips the node. Absent if that cannot happen. */
  readonly isOpen?: (() => boolean) | undefined;
  /** The name in the config. */
  readonly name?: string | undefined;
  /** Returns the route of this request and its reasons. Chooses nothing and counts nothing. */
  explain(ctx: RequestContext): View;
}

export interface Range {
  readonly from: number;
  readonly to: number;
  /** As in `x-svc-last-used-option-index`: `config.targets[1]`. */
  readonly path: string;
}

/** Returns the index of the child that a target belongs to. */
export function childOf(children: readonly Node[], targetIndex: number): number {
  return children.findIndex((child) => targetIndex >= child.from && targetIndex < child.to);
}

/** True if the target was skipped because its provider does not exist. Nothing was called, so no failure is hidden. */
export function isMissing({ errorCode }: AttemptResult): boolean {
  return errorCode === 'invalid_provider';
}

/**
 * A node that picks one child per request and stays with it: the child handles failures itself. If no target of the child exists,
 * `pickAgain` chooses among the others; if it is absent, there is no second choice. `explain` describes what `pick` would do.
 */
export function pickOne(
  children: readonly Node[],
  range: Range,
  pick: (ctx: RequestContext) => number,
  explain: (ctx: RequestContext) => Decision,
  pickAgain: (ctx: RequestContext, tried: ReadonlySet<number>) => number | null = nobody,
): Node {
  return {
    ...range,
    first: (ctx) => (children[pick(ctx)] as Node).first(ctx),
    next(ctx, last) {
      const inner = (children[childOf(children, last.targetIndex)] as Node).next(ctx, last);
      if (inner !== null || !isMissing(last)) return inner;
      const index = pickAgain(ctx, new Set(ctx.attempts.map(({ targetIndex }) => childOf(children, targetIndex))));
      return index === null ? null : (children[index] as Node).first(ctx);
    },
    movesOn: (ctx, targetIndex, status) => (children[childOf(children, targetIndex)] as Node).movesOn(ctx, targetIndex, status),
    explain: (ctx) => viewOf(ctx, children, range, explain(ctx)),
  };
}

function nobody(): null {
  return null;
}

import type { AttemptResult } from '../../core/contract/context.ts';
import type { Target } from '../../core/contract/plan.ts';

/**
 * One node of a compiled strategy tree. It holds no state: where a request stands is said by the target it tried last, whose
 * index lies in [`from`, `to`) of exactly one child.
 */
export interface Node {
  readonly from: number;
  readonly to: number;
  first(): Target | null;
  /** The target to ask after this result; null when this node has nothing left or the result stands. */
  next(last: AttemptResult): Target | null;
}

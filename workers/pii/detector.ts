import type { PiiCategory } from '../../core/contract/plugin/guardrails/pii-categories.ts';

/**
 * One pattern for one category. Patterns cost a bounded number of steps per character: they have no unbounded quantifier, and they begin where
 * the character before cannot belong to a match. A group `value` is what was found if the pattern also matches the words around it.
 */
export interface Detector {
  readonly category: PiiCategory;
  /** Has the flags `d`, `g` and `u`. */
  readonly pattern: RegExp;
  /** Returns false for matches that have the form only, such as numbers with a wrong check digit. */
  readonly isValid?: (value: string) => boolean;
}

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
  /** The smallest number of digits in a finding. Texts with fewer digits are not searched. */
  readonly digits?: number;
  /** A part of every match that is faster to find than the match. */
  readonly mark?: Mark;
}

/**
 * A part of a match. Only the text around marks is searched. Each match contains the mark, unless matches cannot overlap and `isValid` rejects those
 * without it. Otherwise a match without the mark would no longer hide a later one.
 */
export interface Mark {
  /** Has the flag `g`. */
  readonly pattern: RegExp;
  /** The largest number of UTF-16 code units from the beginning of a match to the beginning of its mark. */
  readonly before: number;
  /** The largest number of UTF-16 code units from the beginning of the mark to the end of the match and of what it looks ahead to. */
  readonly after: number;
}

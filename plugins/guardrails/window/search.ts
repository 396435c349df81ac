/** A part of a text that a check denies or replaces. */
export interface Finding {
  /** UTF-16 code units before it. */
  readonly start: number;
  readonly end: number;
  /** The text in its place; null: the check replaces nothing. */
  readonly replacement: string | null;
}

/** The form in which a check reads a text that arrives in parts. */
export interface WindowSearch {
  /** Maximum UTF-16 code units of a finding with those after it that decide about it. At least 1. */
  readonly reach: number;
  /** True: the verdict is false as soon as there is a finding. */
  readonly fails: boolean;
  /** True: only the first finding in each text counts. */
  readonly isOnce: boolean;
  /**
   * Returns the first finding that begins at `from` or later; null if there is none. Up to 64 code units before `from` are context. The
   * result is exact if the text continues for `reach` code units behind its start, or ends there.
   */
  find(text: string, from: number): Finding | null;
}

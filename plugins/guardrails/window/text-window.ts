import { endsWithHalf } from '../../../core/contract/values/text/surrogates.ts';
import type { WindowSearch } from './search.ts';

/** Code units before the window that a search can see, for word boundaries and the like. */
const contextMax = 64;

/**
 * One text that arrives in parts, on its way through one search. Holds back what may be the beginning of a finding: at most `reach` code
 * units, however long the text is.
 */
export class TextWindow {
  readonly #search: WindowSearch;
  readonly #onFinding: () => void;
  #context = '';
  #pending = '';
  #isDone = false;

  constructor(search: WindowSearch, onFinding: () => void) {
    this.#search = search;
    this.#onFinding = onFinding;
  }

  /** Returns the text that is decided with this part, findings replaced. `isLast`: the text ends with it. */
  push(part: string, isLast: boolean): string {
    if (this.#isDone) return part;
    const text = this.#context + this.#pending + part;
    let from = this.#context.length;
    // Findings that begin before this index cannot change any more.
    const decided = isLast ? text.length : beforePair(text, Math.max(from, text.length - this.#search.reach));
    let released = '';
    while (from < decided) {
      const finding = this.#search.find(text, from);
      if (finding === null || finding.start >= decided) {
        released += text.slice(from, decided);
        from = decided;
        break;
      }
      this.#onFinding();
      const { start, end, replacement } = finding;
      released += text.slice(from, start) + (replacement ?? text.slice(start, end));
      from = end;
      if (this.#search.isOnce) {
        this.#isDone = true;
        return released + text.slice(end);
      }
    }
    this.#context = text.slice(Math.max(0, from - contextMax), from);
    this.#pending = text.slice(from);
    return released;
  }
}

/** Returns the index, or the one before it if it is in the middle of a surrogate pair. */
function beforePair(text: string, index: number): number {
  return index < text.length && endsWithHalf(text, index) ? index - 1 : index;
}

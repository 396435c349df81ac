import { endsWithHalf } from '../../../core/contract/values/text/surrogates.ts';
import { unescapedPart } from '../json-escapes.ts';
import type { WindowSearch } from './search.ts';

/** Code units before the window that a search can see, for word boundaries and the like. */
const contextMax = 64;

/**
 * One text that arrives in parts, on its way through one search. Holds back what may be the beginning of a finding: at most `reach` code
 * units, however long the text is. In JSON an escape counts as the one unit that it stands for.
 */
export class TextWindow {
  readonly #search: WindowSearch;
  readonly #isJson: boolean;
  readonly #onFinding: () => void;
  /** The text that has left, without escapes. */
  #context = '';
  #pending = '';
  #isDone = false;
  /** True if the last unit that has left is a backslash that escapes the first one of `#pending`. */
  #isEscaped = false;

  constructor(search: WindowSearch, isJson: boolean, onFinding: () => void) {
    this.#search = search;
    this.#isJson = isJson;
    this.#onFinding = onFinding;
  }

  /** Returns the text that is decided with this part, findings replaced. `isLast`: the text ends with it. */
  push(part: string, isLast: boolean): string {
    if (this.#isDone) return part;
    const given = this.#pending + part;
    const unescaped = this.#isJson && given.includes('\\') ? unescapedPart(given, this.#isEscaped, isLast) : null;
    const text = this.#context + (unescaped === null ? given : unescaped.text);
    const begin = this.#context.length;
    const at = (index: number): number => (unescaped === null ? index - begin : (unescaped.at[index - begin] as number));
    let from = begin;
    // Findings that begin before this index cannot change any more.
    const decided = isLast ? text.length : beforePair(text, Math.max(from, text.length - this.#search.reach));
    let released = '';
    while (from < decided) {
      const finding = this.#search.find(text, from);
      if (finding === null || finding.start >= decided) {
        released += given.slice(at(from), at(decided));
        from = decided;
        break;
      }
      this.#onFinding();
      const { start, end, replacement } = finding;
      released += given.slice(at(from), at(start)) + (replacement ?? given.slice(at(start), at(end)));
      from = end;
      if (this.#search.isOnce) {
        this.#isDone = true;
        return released + given.slice(at(end));
      }
    }
    this.#context = text.slice(Math.max(0, from - contextMax), from);
    this.#pending = given.slice(at(from));
    this.#isEscaped = this.#isJson && this.#escapes(given, at(from));
    return released;
  }

  /** True if a backslash escapes the unit at this index. */
  #escapes(given: string, index: number): boolean {
    let first = index;
    while (given[first - 1] === '\\') first--;
    const isEscaped = first === 0 && this.#isEscaped;
    return ((index - first) % 2 === 1) !== isEscaped;
  }
}

/** Returns the index, or the one before it if it is in the middle of a surrogate pair. */
function beforePair(text: string, index: number): number {
  return index < text.length && endsWithHalf(text, index) ? index - 1 : index;
}

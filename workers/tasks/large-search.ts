import { RE2JS } from 're2js';
import { filterOf } from './pattern-filter.ts';
import { reachOf } from './pattern-reach.ts';

type Matcher = ReturnType<RE2JS['matcher']>;

/** Texts up to this length are searched at once. */
const segmentLength = 4096;
/** Code units behind a match that decide about it: the rest of a character, for word boundaries and ends of lines. */
const lookahead = 2;
/**
 * Maximum steps (instructions × code units) of a pattern whose matches have no bounded length: it cannot be searched in segments. A step
 * takes 22 ns at most.
 */
const unboundedStepsMax = 50_000_000;

/** Returns the first index from which the pattern may match; null if it cannot. */
export function nextCandidate(expression: RE2JS, text: string, from: number): number | null {
  const filter = filterOf(expression);
  if (filter === null) return from;
  filter.lastIndex = from;
  return filter.exec(text)?.index ?? null;
}

/** A pattern takes too much time for the length of its texts. */
export class PatternCostError extends Error {
  override readonly name = 'PatternCostError';
}

/**
 * Searches of one pattern in texts of any length. Usual patterns take 10 to 170 ns per code unit, hostile ones up to 26 µs. Large texts
 * are searched in segments, and the CPU time of the thread is checked between them: 100 ms and 2 µs per code unit. On a busy machine a search
 * may wait for a core much longer.
 */
export class LargeSearch {
  readonly #expression: RE2JS;
  /** CPU time of this thread at which a search in segments ends, in microseconds. */
  readonly #untilUs: number;
  /** Maximum length of a match with its lookahead; null: the pattern cannot be searched in segments. */
  readonly #reach: number | null;

  constructor(expression: RE2JS, length: number) {
    this.#expression = expression;
    this.#untilUs = 0;
    this.#reach = null;
    if (length <= segmentLength) return;
    const { least, most, instructions } = reachOf(expression);
    this.#reach = most === null || least === 0 ? null : most + lookahead;
    if (this.#reach !== null) this.#untilUs = cpuUs() + 100_000 + 2 * length;
    else if (instructions * length > unboundedStepsMax) throw new PatternCostError();
  }

  /** Returns the first match that begins at `from` or later, and the offset of its positions; null if there is none. */
  next(text: string, given: number): { readonly matcher: Matcher; readonly offset: number } | null {
    const from = nextCandidate(this.#expression, text, given);
    if (from === null) return null;
    const reach = this.#reach;
    if (reach === null) {
      const matcher = this.#expression.matcher(text);
      return matcher.find(from) ? { matcher, offset: 0 } : null;
    }
    // Each search costs time for the whole segment. Matches are often near each other, so segments begin short.
    for (let at = from, length = 64; at < text.length; at += length, length = Math.min(2 * length, segmentLength)) {
      if (cpuUs() > this.#untilUs) throw new PatternCostError();
      // The text before a segment decides about word boundaries and beginnings of lines.
      const offset = Math.max(0, at - lookahead);
      const matcher = this.#expression.matcher(text.slice(offset, at + length + reach));
      if (matcher.find(at - offset) && offset + matcher.start() < at + length) return { matcher, offset };
    }
    return null;
  }

  /** Returns the text with the first match, or all, replaced by a plain text. */
  replace(text: string, replacement: string, isGlobal: boolean): string {
    if (this.#reach === null) {
      const literal = RE2JS.quoteReplacement(replacement);
      const matcher = this.#expression.matcher(text);
      return isGlobal ? matcher.replaceAll(literal) : matcher.replaceFirst(literal);
    }
    const parts: string[] = [];
    let from = 0;
    for (let found = this.next(text, 0); found !== null; found = isGlobal ? this.next(text, from) : null) {
      parts.push(text.slice(from, found.offset + found.matcher.start()), replacement);
      from = found.offset + found.matcher.end();
    }
    return parts.join('') + text.slice(from);
  }
}

/** CPU time of this thread so far. The call takes 0.6 µs. */
function cpuUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

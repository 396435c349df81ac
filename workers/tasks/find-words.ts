import { LRUCache } from 'lru-cache';
import type { WordsInput } from '../../core/contract/plugin/services/worker-tasks.ts';
import normalize, { fold } from './normalize.ts';

const folded = new LRUCache<string, string>({ max: 10_000 });

/** Returns the words that the texts hold, also inside of other words. */
export default function findWords({ texts, words, isNormalized }: WordsInput): readonly string[] {
  if (!isNormalized) {
    const text = texts.length === 1 ? (texts[0] as string) : texts.join('\n');
    const any = anyOf(words);
    if (any !== null && !any.test(text)) return noWords;
    return words.filter((word) => text.includes(word));
  }
  const text = normalize({ texts });
  return words.filter((word) => text.includes(foldedOf(word)));
}

const noWords: readonly string[] = [];

/** More words make one expression slower than a search for each of them. */
const anyWordsMax = 32;
const anyExpressions = new WeakMap<readonly string[], RegExp>();

/**
 * Returns an expression that finds any of the words; null for too many words. Most texts hold none of them: 1 KB takes 4 µs in place of 8
 * for eight words.
 */
function anyOf(words: readonly string[]): RegExp | null {
  if (words.length > anyWordsMax) return null;
  let expression = anyExpressions.get(words);
  if (!expression) {
    expression = new RegExp(words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|'));
    anyExpressions.set(words, expression);
  }
  return expression;
}

/** Returns an upper bound of the work in comparisons: one per word and character, and 200 per character to see through disguises. */
export function wordStepsOf({ texts, words, isNormalized }: WordsInput): number {
  return texts.reduce((sum, text) => sum + text.length, 0) * (words.length + (isNormalized ? 200 : 0));
}

function foldedOf(word: string): string {
  const known = folded.get(word);
  if (known !== undefined) return known;
  const value = fold(word);
  folded.set(word, value);
  return value;
}

import { LRUCache } from 'lru-cache';
import type { WordsInput } from '../../core/contract/plugin/worker-tasks.ts';
import normalize, { fold } from './normalize.ts';

const folded = new LRUCache<string, string>({ max: 10_000 });

/** Returns the words that the texts hold, also inside of other words. */
export default function findWords({ texts, words, isNormalized }: WordsInput): readonly string[] {
  if (!isNormalized) {
    const text = texts.join('\n');
    return words.filter((word) => text.includes(word));
  }
  const text = normalize({ texts });
  return words.filter((word) => text.includes(foldedOf(word)));
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

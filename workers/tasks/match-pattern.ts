import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import type { PatternInput, PatternMatch, PatternOutput } from '../../core/contract/plugin/services/worker-tasks.ts';
import { LargeSearch } from './large-search.ts';

const compiled = new LRUCache<string, RE2JS>({ max: 500 });

/**
 * Searches texts for a RE2 pattern in linear time. Throws if the pattern is not valid, and PatternCostError if it takes too much time for
 * the length of the texts.
 */
export default function matchPattern({ pattern, flags, texts, replacement }: PatternInput): PatternOutput {
  const expression = compile(pattern, flags);
  const search = new LargeSearch(
    expression,
    texts.reduce((sum, text) => sum + text.length, 0),
  );
  let match: PatternMatch | null = null;
  let isReplaced = false;
  const replaced: string[] = [];
  for (const text of texts) {
    const found = search.next(text, 0);
    if (found !== null && match === null) match = matchOf(found.matcher, found.offset);
    if (replacement === null) {
      if (match !== null) break;
      continue;
    }
    if (found !== null) isReplaced = true;
    replaced.push(found === null ? text : search.replace(text, replacement, flags.includes('g')));
  }
  return { match, replaced: isReplaced ? replaced : null };
}

/** Returns an upper bound of the steps of a search: instructions of the compiled pattern times characters of the texts. */
export function stepsOf({ pattern, flags, texts }: PatternInput): number {
  return compile(pattern, flags).programSize() * texts.reduce((sum, text) => sum + text.length, 0);
}

/** Returns the compiled pattern. Throws with the position of the error if it is invalid. */
export function compile(pattern: string, flags: string): RE2JS {
  const key = `${flags}/${pattern}`;
  const known = compiled.get(key);
  if (known) return known;
  let bits = 0;
  if (flags.includes('i')) bits |= RE2JS.CASE_INSENSITIVE;
  if (flags.includes('m')) bits |= RE2JS.MULTILINE;
  if (flags.includes('s')) bits |= RE2JS.DOTALL;
  const expression = RE2JS.compile(pattern, bits);
  compiled.set(key, expression);
  return expression;
}

function matchOf(matcher: ReturnType<RE2JS['matcher']>, offset: number): PatternMatch {
  const captures: (string | null)[] = [];
  for (let group = 1; group <= matcher.groupCount(); group++) captures.push(matcher.group(group));
  return { text: matcher.group() ?? '', index: offset + matcher.start(), captures, groups: matcher.getNamedGroups() };
}

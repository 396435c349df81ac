import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import type { PatternInput, PatternMatch, PatternOutput } from '../../core/contract/plugin/worker-tasks.ts';

const compiled = new LRUCache<string, RE2JS>({ max: 500 });

/** Searches texts for a RE2 pattern in linear time. Throws if the pattern is not valid. */
export default function matchPattern({ pattern, flags, texts, replacement }: PatternInput): PatternOutput {
  const expression = compile(pattern, flags);
  let match: PatternMatch | null = null;
  let isReplaced = false;
  const replaced: string[] = [];
  for (const text of texts) {
    const matcher = expression.matcher(text);
    const isFound = matcher.find();
    if (isFound && match === null) match = matchOf(matcher);
    if (replacement === null) {
      if (match !== null) break;
      continue;
    }
    if (isFound) isReplaced = true;
    // `$1` in the replacement is plain text.
    const literal = RE2JS.quoteReplacement(replacement);
    replaced.push(!isFound ? text : flags.includes('g') ? matcher.replaceAll(literal) : matcher.replaceFirst(literal));
  }
  return { match, replaced: isReplaced ? replaced : null };
}

/** Returns an upper bound of the steps of a search: instructions of the compiled pattern times characters of the texts. */
export function stepsOf({ pattern, flags, texts }: PatternInput): number {
  return compile(pattern, flags).programSize() * texts.reduce((sum, text) => sum + text.length, 0);
}

/** Returns the compiled pattern. Throws with the position of the mistake if it is not valid. */
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

function matchOf(matcher: ReturnType<RE2JS['matcher']>): PatternMatch {
  const captures: (string | null)[] = [];
  for (let group = 1; group <= matcher.groupCount(); group++) captures.push(matcher.group(group));
  return { text: matcher.group() ?? '', index: matcher.start(), captures, groups: matcher.getNamedGroups() };
}

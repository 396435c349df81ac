import type { PatternReach, PatternSearch, PatternSpan } from '../../core/contract/plugin/services/worker-tasks.ts';
import { nextCandidate } from './large-search.ts';
import { compile } from './match-pattern.ts';
import { reachOf } from './pattern-reach.ts';

/** Returns the first match that begins at `from` or later; null if there is none. */
export default function searchPattern({ pattern, flags, text, from }: PatternSearch): PatternSpan | null {
  const expression = compile(pattern, flags);
  const candidate = nextCandidate(expression, text, from);
  if (candidate === null) return null;
  const matcher = expression.matcher(text);
  return matcher.find(candidate) ? { start: matcher.start(), end: matcher.end() } : null;
}

/** Returns the bounds of the matches of a pattern. */
export function measurePattern({ pattern, flags }: Pick<PatternSearch, 'pattern' | 'flags'>): PatternReach {
  return reachOf(compile(pattern, flags));
}

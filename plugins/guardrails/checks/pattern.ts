import * as v from 'valibot';
import type { PatternReach, PatternSpan, TaskRunner } from '../../../core/contract/plugin/services/worker-tasks.ts';
import { messageOf } from '../../../core/contract/values/errors/message-of.ts';
import type { WindowSearch } from '../window/search.ts';

/** A pattern of a user. */
export const rule = v.pipe(v.string(), v.minLength(1), v.maxLength(256, 'expected at most 256 characters'));

/** Compiles a pattern, so that a mistake is found when the config is compiled. Throws an Error with the reason. */
export function preparePattern(tasks: TaskRunner, pattern: string, flags: string): void {
  try {
    tasks.run('match-pattern', { pattern, flags, texts: [], replacement: null });
  } catch (thrown) {
    throw new Error(`rule: not a valid RE2 pattern (look-around and back-references are not supported): ${messageOf(thrown)}`);
  }
}

/** Bounds the work for each part of a stream: instructions of the pattern times code units that are searched again. */
const windowStepsMax = 25_000;

/** Returns the search of a pattern in a stream, or the reason why the pattern needs the whole text. */
export function patternWindow(
  tasks: TaskRunner,
  given: { pattern: string; flags: string; replacement: string | null; fails: boolean; isOnce: boolean },
): WindowSearch | string {
  const { pattern, flags, replacement, fails, isOnce } = given;
  // Both tasks run in the calling thread.
  const { least, most, instructions } = tasks.run('measure-pattern', { pattern, flags }) as PatternReach;
  if (most === null) return 'the length of a match has no bound. Use {1,n} in place of + and {0,n} in place of *';
  if (least === 0) return 'the pattern matches the empty text';
  // Word boundaries and ends of lines depend on the next character.
  const reach = most + 2;
  if (reach * instructions > windowStepsMax) return 'the pattern is too complex for a window';
  return {
    reach,
    fails,
    isOnce,
    find(text, from) {
      const span = tasks.run('search-pattern', { pattern, flags, text, from }) as PatternSpan | null;
      return span && { ...span, replacement };
    },
  };
}

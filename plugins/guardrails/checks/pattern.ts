import * as v from 'valibot';
import type { TaskRunner } from '../../../core/contract/plugin/worker-tasks.ts';
import { messageOf } from '../../../core/contract/values/message-of.ts';

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

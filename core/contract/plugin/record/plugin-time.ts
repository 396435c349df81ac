import * as v from 'valibot';
import { hookNames } from '../plugin.ts';

/** Time that one hook of a plugin took during a request. */
export const pluginTime = v.object({
  plugin: v.string(),
  hook: v.picklist(hookNames),
  /** Number of calls: `onAttempt` is called for each attempt, `onChunk` for each chunk. */
  calls: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  /** Milliseconds of all calls, including the time in which a promise was pending. */
  durationMs: v.pipe(v.number(), v.minValue(0)),
});
export type PluginTime = v.InferOutput<typeof pluginTime>;

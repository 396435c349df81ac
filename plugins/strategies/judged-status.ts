import type { AttemptResult } from '../../core/contract/plugin/context.ts';

/**
 * Returns the status of a target's result: the provider's own, or the one of the error that replaced it, also if a stream was cut
 * after a successful start. Null if the result does not depend on the target: the client disconnected, or the caller or the
 * gateway caused the error.
 */
export function judgedStatus(last: AttemptResult | null): number | null {
  if (last === null) return null;
  if (last.error === null) return last.status;
  if (last.error.source !== 'upstream') return null;
  return last.ok ? last.error.status : last.status;
}

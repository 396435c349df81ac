import type { AttemptResult } from '../../core/contract/plugin/context.ts';

/**
 * The status by which a target is judged: the provider's own, or the one of the error that stood in for it, also where a stream was
 * cut after a good beginning. Null when the result says nothing about the target: the client left, or the fault was the caller's
 * or ours.
 */
export function judgedStatus(last: AttemptResult | null): number | null {
  if (last === null) return null;
  if (last.error === null) return last.status;
  if (last.error.source !== 'upstream') return null;
  return last.ok ? last.error.status : last.status;
}

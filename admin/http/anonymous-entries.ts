import type { Clock } from '../../core/contract/values/time/clock.ts';
import { createRateLimit } from './caller/rate-limit.ts';

/** Maximum number of entries per minute, organisation and process. */
const entriesPerMinute = 60;

/** Limits the audit entries of refused requests that anyone can send, so that a flood of them does not fill a trail. */
export interface AnonymousEntries {
  /** Returns how many refusals of this organisation had no entry since the last one that had. Null: this one gets none either. */
  take(organisationId: string): number | null;
}

/** Limits the audit entries about refused callers without a user, for each organisation and minute. */
export function createAnonymousEntries(clock: Pick<Clock, 'elapsed'>): AnonymousEntries {
  const limit = createRateLimit(entriesPerMinute, () => clock.elapsed());
  /** Refusals without an entry by organisation. */
  const omitted = new Map<string, number>();
  return {
    take(organisationId) {
      const before = omitted.get(organisationId) ?? 0;
      if (!limit.admits(organisationId)) {
        omitted.set(organisationId, before + 1);
        return null;
      }
      omitted.delete(organisationId);
      return before;
    },
  };
}

import type { Settings } from '../../../config/settings.ts';
import { dayMs } from '../../../core/contract/values/time/durations.ts';
import type { EntityManager } from '../../db/open-database.ts';

/** Times before which records are deleted. */
export interface Retention {
  /** The time for every organisation and for records without one; null: nothing is deleted. */
  readonly all: Date | null;
  /** Organisations whose records end earlier than that. */
  readonly earlier: readonly { readonly organisationId: string; readonly before: Date }[];
}

/** Returns the start of a retention of these days; null if they are 0 or infinite, which keeps everything. */
export function retentionStart(days: number, nowMs: number): Date | null {
  return days === 0 || days === Number.POSITIVE_INFINITY ? null : new Date(nowMs - days * dayMs);
}

/**
 * Reads how long records are kept: RECORD_RETENTION_DAYS, or the `log_retention_days` of an organisation if they are fewer. `all` follows the
 * organisation that keeps its records longest, so that whole days can be dropped as soon as none needs them.
 */
export async function readRetention(
  em: EntityManager,
  settings: Pick<Settings, 'recordRetentionDays'>,
  nowMs: number,
): Promise<Retention> {
  const rows = await em.execute<{ id: string; days: number | null }[]>(
    "select id, (settings->>'log_retention_days')::int as days from organisations order by id",
  );
  const daysMax = settings.recordRetentionDays || Number.POSITIVE_INFINITY;
  const limits = rows.map(({ id, days }) => ({ id, days: Math.min(days ?? daysMax, daysMax) }));
  const longest = limits.length === 0 ? daysMax : Math.max(...limits.map(({ days }) => days));
  return {
    all: retentionStart(longest, nowMs),
    earlier: limits
      .filter(({ days }) => days < longest)
      .map(({ id, days }) => ({ organisationId: id, before: new Date(nowMs - days * dayMs) })),
  };
}

/** Returns the time before which records of an organisation may be deleted, in milliseconds; 0: never. Unknown organisation: the latest. */
export function keptSince({ all, earlier }: Retention, organisationId: string | null): number {
  const times = earlier.filter((one) => organisationId === null || one.organisationId === organisationId);
  return Math.max(all?.getTime() ?? 0, ...times.map(({ before }) => before.getTime()));
}

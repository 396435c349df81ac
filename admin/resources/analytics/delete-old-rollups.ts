import { setImmediate as nextTurn } from 'node:timers/promises';
import { dayMs } from '../../../core/contract/values/time/durations.ts';
import { grains } from '../../analytics/grains.ts';
import { expireWeeks } from '../../analytics/sum-days.ts';
import type { HousekeepingServices } from '../../define-resource.ts';
import { organisations } from '../organisations/entity.ts';

/** Rows per statement, so that ingestion never waits long for a lock. */
const batchRows = 2_000;
/** Roll-ups of minutes serve short ranges of the last 47 hours. */
const minuteDays = 2;

/** Deletes roll-ups of minutes after two days, and all others after ANALYTICS_RETENTION_DAYS. */
export async function deleteOldRollups(
  { settings, database, isClosing }: Pick<HousekeepingServices, 'settings' | 'database' | 'isClosing'>,
  nowMs: number,
): Promise<void> {
  const em = database.em();
  const all = await em.find(organisations, {}, { fields: ['id'] });
  if (settings.analyticsRetentionDays > 0) await expireWeeks(em, nowMs - settings.analyticsRetentionDays * dayMs);
  for (const grain of Object.values(grains)) {
    const days = grain === grains.minute ? minuteDays : settings.analyticsRetentionDays;
    if (days === 0) continue;
    const before = new Date(nowMs - days * dayMs);
    for (const { id } of all) {
      let deleted = batchRows;
      while (deleted === batchRows && !isClosing()) {
        const gone = await em.execute<unknown[]>(
          `with old as materialized (select organisation_id, grain, starts_at, key from usage_rollups
             where organisation_id = ? and grain = ? and starts_at < ? order by key limit ? for update skip locked)
           delete from usage_rollups r using old
           where r.organisation_id = old.organisation_id and r.grain = old.grain and r.starts_at = old.starts_at and r.key = old.key
           returning 1`,
          [id, grain.name, before, batchRows],
        );
        deleted = gone.length;
        await nextTurn();
      }
    }
  }
}

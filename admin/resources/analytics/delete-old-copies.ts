import { prepareTable, recordTable } from '../../analytics/clickhouse/record-table.ts';
import type { HousekeepingServices } from '../../define-resource.ts';
import { readRetention } from '../logs/retention.ts';

/**
 * Deletes the records in ClickHouse after ANALYTICS_RETENTION_DAYS, in whole days, and those of organisations with a shorter
 * `log_retention_days`.
 */
export async function deleteOldCopies(
  { settings, database, clickhouse }: Pick<HousekeepingServices, 'settings' | 'database' | 'clickhouse'>,
  nowMs = Date.now(),
): Promise<void> {
  if (clickhouse === null) return;
  await prepareTable(clickhouse);
  const limit = { recordRetentionDays: settings.analyticsRetentionDays };
  const { all, earlier } = await readRetention(database.em(), limit, nowMs);
  if (all !== null) {
    const days = await clickhouse.query<{ day: string }>(
      `select distinct partition as day from system.parts
       where database = currentDatabase() and table = {table:String} and active and partition < {before:String}`,
      { table: recordTable, before: all.toISOString().slice(0, 10).replaceAll('-', '') },
    );
    for (const { day } of days) await clickhouse.run(`alter table ${recordTable} drop partition {day:String}`, { day });
  }
  for (const { organisationId, before } of earlier) {
    await clickhouse.run(
      `delete from ${recordTable} where organisation_id = {organisation:UUID}
       and created_at < fromUnixTimestamp64Milli({before:Int64}, 'UTC')`,
      { organisation: organisationId, before: before.getTime() },
    );
  }
}

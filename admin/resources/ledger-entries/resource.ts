import { defineResource, type HousekeepingServices } from '../../define-resource.ts';
import { retentionStart } from '../logs/forget-old-records.ts';
import { ledgerEntryRoutes } from './routes.ts';

export const ledgerEntriesResource = defineResource({
  name: 'ledger-entries',
  after: ['logs'],
  routes: ledgerEntryRoutes,
  housekeeping: [{ name: 'delete ledger entries older than RECORD_RETENTION_DAYS', run: deleteOldEntries }],
});

/** Entries and past windows live as long as the records they sum up. */
async function deleteOldEntries({ settings, database }: HousekeepingServices): Promise<void> {
  const before = retentionStart(settings.recordRetentionDays, Date.now());
  if (before === null) return;
  await database.em().execute('delete from limit_entries where created_at < ?', [before], 'run');
  await database.em().execute('delete from limit_past_windows where end_ms < ?', [before.getTime()], 'run');
}

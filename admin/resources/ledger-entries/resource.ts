import { deleteInBatches } from '../../db/delete-in-batches.ts';
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
async function deleteOldEntries({ settings, database, isClosing }: HousekeepingServices): Promise<void> {
  const before = retentionStart(settings.recordRetentionDays, Date.now());
  if (before === null) return;
  const em = database.em();
  const batches = { batchRows: 1_000, isClosing };
  await deleteInBatches(em, {
    ...{ table: 'limit_entries', keys: ['record_id', 'key', 'start_ms'], time: 'created_at', before, ...batches },
  });
  await deleteInBatches(em, {
    ...{ table: 'limit_past_windows', keys: ['key', 'start_ms'], time: 'end_ms', before: before.getTime(), ...batches },
  });
}

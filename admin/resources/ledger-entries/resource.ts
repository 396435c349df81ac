import { deleteInBatches, type OldRows } from '../../db/delete-in-batches.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { defineResource, type HousekeepingServices } from '../../define-resource.ts';
import { readRetention } from '../logs/retention.ts';
import { ledgerEntryRoutes } from './routes.ts';

export const ledgerEntriesResource = defineResource({
  name: 'ledger-entries',
  after: ['logs'],
  routes: ledgerEntryRoutes,
  housekeeping: [{ name: 'delete ledger entries older than their records', run: deleteOldEntries }],
});

/** Entries and past windows live as long as the records they sum up. */
async function deleteOldEntries({ settings, database, isClosing }: HousekeepingServices): Promise<void> {
  const em = database.em();
  const { all, earlier } = await readRetention(em, settings, Date.now());
  if (all !== null) await deleteEntries(em, all, isClosing);
  for (const { organisationId, before } of earlier) {
    await deleteEntries(em, before, isClosing, { organisation_id: organisationId });
  }
}

async function deleteEntries(
  em: EntityManager,
  before: Date,
  isClosing: () => boolean,
  owner: OldRows['owner'] = null,
): Promise<void> {
  const batches = { batchRows: 1_000, isClosing, owner };
  await deleteInBatches(em, {
    ...{ table: 'limit_entries', keys: ['record_id', 'key', 'start_ms'], time: 'created_at', before, ...batches },
  });
  await deleteInBatches(em, {
    ...{ table: 'limit_past_windows', keys: ['key', 'start_ms'], time: 'end_ms', before: before.getTime(), ...batches },
  });
}

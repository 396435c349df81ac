import { defineResource, type HousekeepingServices } from '../../define-resource.ts';
import { requestRecords } from './entity.ts';
import { forgetOldRecords, retentionStart } from './forget-old-records.ts';
import { logRoutes } from './routes.ts';

export const logsResource = defineResource({
  name: 'logs',
  after: ['workspaces'],
  entities: [requestRecords],
  routes: logRoutes,
  housekeeping: [{ name: 'delete request records older than RECORD_RETENTION_DAYS', run: deleteOldRecords }],
});

async function deleteOldRecords({ settings, database, log, isClosing }: HousekeepingServices): Promise<void> {
  const before = retentionStart(settings.recordRetentionDays, Date.now());
  if (before === null) return;
  const deleted = await forgetOldRecords(database.em(), before, isClosing);
  if (deleted === 0) return;
  log.info({ deleted, before: before.toISOString() }, 'request records older than RECORD_RETENTION_DAYS deleted');
  // The embedded database has no autovacuum: without this the file would never reuse the space.
  if (settings.databaseUrl === null && !isClosing()) await database.em().execute('vacuum request_records');
}

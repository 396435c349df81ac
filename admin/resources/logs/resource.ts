import { createDayPartitions, dropPartitionsBefore } from '../../db/day-partitions.ts';
import { defineResource, type HousekeepingServices } from '../../define-resource.ts';
import { deleteObjects } from '../../object-store/stored-objects.ts';
import { recordContents } from './content-entity.ts';
import { requestRecords } from './entity.ts';
import { forgetOldRecords, forgetRecordsOf } from './forget-old-records.ts';
import { RecordsByDay } from './migrations/202611222020-records-by-day.ts';
import { RecordContents } from './migrations/202611222045-record-contents.ts';
import { RecordsByWorkspace } from './migrations/202611222110-records-by-workspace.ts';
import { ContentsInObjects } from './migrations/202611230616-contents-in-objects.ts';
import { ContentsByOrganisation } from './migrations/202611230650-contents-by-organisation.ts';
import { SavedCosts } from './migrations/202611232330-saved-costs.ts';
import { SpansOfClients } from './migrations/202611272100-spans-of-clients.ts';
import { SpansWithoutCalls } from './migrations/202611272250-spans-without-calls.ts';
import { RecordsByPrompt } from './migrations/202611291945-records-by-prompt.ts';
import { moveContents, moveContentsJob, resumeMoves } from './move-contents.ts';
import { readRetention, retentionStart } from './retention.ts';
import { logRoutes } from './routes.ts';

export const logsResource = defineResource({
  name: 'logs',
  after: ['workspaces', 'log-exports'],
  entities: [requestRecords, recordContents],
  migrations: [
    { name: '202611222020-records-by-day', class: RecordsByDay },
    { name: '202611222045-record-contents', class: RecordContents },
    { name: '202611222110-records-by-workspace', class: RecordsByWorkspace },
    { name: '202611230616-contents-in-objects', class: ContentsInObjects },
    { name: '202611230650-contents-by-organisation', class: ContentsByOrganisation },
    { name: '202611232330-saved-costs', class: SavedCosts },
    { name: '202611272100-spans-of-clients', class: SpansOfClients },
    { name: '202611272250-spans-without-calls', class: SpansWithoutCalls },
    { name: '202611291945-records-by-prompt', class: RecordsByPrompt },
  ],
  routes: logRoutes,
  jobs: [{ kind: moveContentsJob, handler: moveContents }],
  housekeeping: [
    { name: 'move bodies to the object store', run: ({ database }) => resumeMoves(database.em()) },
    { name: 'create partitions for request records', run: createPartitions },
    { name: 'delete request records older than RECORD_RETENTION_DAYS or log_retention_days', run: deleteOldRecords },
    { name: 'delete bodies older than log_body_retention_days of their organisation', run: deleteOldBodies },
  ],
});

/** A control plane that was down for longer than this finds its new records in the default partition, and moves them. */
const daysAhead = 3;

const tables = ['request_records', 'record_contents'] as const;

async function createPartitions({ database }: HousekeepingServices): Promise<void> {
  for (const table of tables) await createDayPartitions(database.em(), table, Date.now(), daysAhead);
}

async function deleteOldRecords(services: HousekeepingServices): Promise<void> {
  const { settings, database, isClosing } = services;
  const em = database.em();
  const { all, earlier } = await readRetention(em, settings, Date.now());
  for (const table of all === null ? [] : tables) {
    const before = all as Date;
    const droppedDays = await dropPartitionsBefore(em, table, before);
    const deleted = await forgetOldRecords(em, before, isClosing, table);
    if (deleted > 0 || droppedDays > 0) await report(services, table, deleted, { droppedDays, before });
  }
  if (all !== null) await deleteObjects(em, { before: all, organisationId: null });
  for (const { organisationId, before } of earlier) {
    const deleted = await forgetRecordsOf(em, organisationId, before, isClosing);
    if (deleted > 0) await report(services, 'request_records', deleted, { organisationId, before });
    await forgetBodies(services, organisationId, before);
  }
}

async function report(
  { settings, database, log, isClosing }: HousekeepingServices,
  table: string,
  deleted: number,
  more: object,
) {
  log.info({ table, deleted, ...more }, 'rows older than RECORD_RETENTION_DAYS or log_retention_days deleted');
  // The embedded database has no autovacuum: without this the file would never reuse the space.
  if (deleted > 0 && settings.databaseUrl === null && !isClosing()) await database.em().execute(`vacuum ${table}`);
}

/** Bodies may end before their records, which budgets and analytics are verified against. */
async function deleteOldBodies(services: HousekeepingServices): Promise<void> {
  const rows = await services.database.em().execute<{ id: string; days: number | string }[]>(
    `select id, settings->>'log_body_retention_days' as days from organisations
     where (settings->>'log_body_retention_days')::int > 0`,
  );
  for (const { id, days } of rows) {
    const before = retentionStart(Number(days), Date.now());
    if (before !== null) await forgetBodies(services, id, before);
  }
}

async function forgetBodies({ database, isClosing }: HousekeepingServices, organisationId: string, before: Date): Promise<void> {
  const em = database.em();
  await forgetOldRecords(em, before, isClosing, 'record_contents', { organisation_id: organisationId });
  await deleteObjects(em, { before, organisationId });
}

import { anchorChains } from './audit/anchors.ts';
import { auditChains, auditEntries } from './audit/entity.ts';
import { sharedMigrations } from './db/migrations/index.ts';
import { defineResource } from './define-resource.ts';
import { idempotencyKeys } from './http/idempotency/entity.ts';
import { forgetExpiredKeys } from './http/idempotency/repeat.ts';
import { jobs } from './jobs/entity.ts';
import { clearPassedBudgets, forgetOldWindows } from './leases/clean-ledger.ts';
import { limitBudgets, limitEntries, limitLeases, limitPastWindows, limitWindows } from './leases/entity.ts';
import { settleRecords } from './leases/settle.ts';
import { mails } from './mail/entity.ts';
import { deleteExpiredMails } from './mail/queue.ts';
import { storedObjects } from './object-store/entity.ts';
import { deleteMarked, deleteObjectsJob, resumeDeletion } from './object-store/stored-objects.ts';
import { outbox } from './publish/entity.ts';
import { dataKeys } from './secrets/entity.ts';

/** Tables and housekeeping of the folders that no resource owns. */
export const infrastructure = defineResource({
  name: 'infrastructure',
  entities: [
    ...[auditEntries, auditChains, idempotencyKeys, outbox, dataKeys, jobs, mails, storedObjects],
    ...[limitWindows, limitBudgets, limitLeases, limitEntries, limitPastWindows],
  ],
  migrations: sharedMigrations,
  recordWriters: [settleRecords],
  jobs: [
    {
      kind: deleteObjectsJob,
      handler:
        ({ database, objects }) =>
        ({ key }) =>
          deleteMarked(database, objects, key),
    },
  ],
  housekeeping: [
    { name: 'delete objects that are marked', run: ({ database }) => resumeDeletion(database.em()) },
    { name: 'write audit anchors', run: ({ settings, database, log }) => anchorChains(settings, database, log) },
    { name: 'delete expired idempotency keys', run: ({ database }) => forgetExpiredKeys(database.em()) },
    { name: 'delete ended windows of limits', run: ({ database }) => forgetOldWindows(database, Date.now()) },
    { name: 'delete expired mails', run: ({ database, mailer }) => deleteExpiredMails(database.em(), mailer) },
    { name: 'reset ended budgets', run: ({ database }) => clearPassedBudgets(database, Date.now()) },
  ],
});

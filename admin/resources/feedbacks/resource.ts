import { defineResource, type HousekeepingServices } from '../../define-resource.ts';
import { forgetOldRecords, retentionStart } from '../logs/forget-old-records.ts';
import { feedbacks } from './entity.ts';
import { Feedbacks } from './migrations/202611221718-feedbacks.ts';
import { feedbackRoutes } from './routes.ts';
import { storeVerdicts } from './store-verdicts.ts';

export const feedbacksResource = defineResource({
  name: 'feedbacks',
  after: ['workspaces'],
  entities: [feedbacks],
  migrations: [{ name: '202611221718-feedbacks', class: Feedbacks }],
  routes: feedbackRoutes,
  recordWriters: [storeVerdicts],
  dependents: {
    workspace: [
      {
        what: 'feedback',
        remove: async ({ tx }, { id, organisationId }) => {
          await tx.nativeDelete(feedbacks, { organisationId, workspaceId: id });
        },
      },
    ],
  },
  housekeeping: [{ name: 'delete feedback older than RECORD_RETENTION_DAYS', run: deleteOldFeedback }],
});

/** Feedback lives as long as the records it belongs to. */
async function deleteOldFeedback({ settings, database, isClosing }: HousekeepingServices): Promise<void> {
  const before = retentionStart(settings.recordRetentionDays, Date.now());
  if (before !== null) await forgetOldRecords(database.em(), before, isClosing, 'feedbacks');
}

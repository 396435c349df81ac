import { defineResource, type HousekeepingServices } from '../../define-resource.ts';
import { forgetOldRecords } from '../logs/forget-old-records.ts';
import { readRetention } from '../logs/retention.ts';
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
  housekeeping: [{ name: 'delete feedback older than its records', run: deleteOldFeedback }],
});

/** Feedback lives as long as the records it belongs to. */
async function deleteOldFeedback({ settings, database, isClosing }: HousekeepingServices): Promise<void> {
  const em = database.em();
  const { all, earlier } = await readRetention(em, settings, Date.now());
  if (all !== null) await forgetOldRecords(em, all, isClosing, 'feedbacks');
  for (const { organisationId, before } of earlier) {
    await forgetOldRecords(em, before, isClosing, 'feedbacks', { organisation_id: organisationId });
  }
}

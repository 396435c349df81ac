import { defineResource, type HousekeepingServices, slugOfReply } from '../../define-resource.ts';
import { deliverWebhookKind } from './add-deliveries.ts';
import { deliverWebhook } from './deliver.ts';
import { deliveryRoutes } from './delivery-routes.ts';
import { webhookDeliveries, webhooks } from './entity.ts';
import { Webhooks } from './migrations/202611222045-webhooks.ts';
import { webhookRoutes } from './routes.ts';

export const webhooksResource = defineResource({
  name: 'webhooks',
  after: ['workspaces'],
  entities: [webhooks, webhookDeliveries],
  migrations: [{ name: '202611222045-webhooks', class: Webhooks }],
  routes: [...webhookRoutes, ...deliveryRoutes],
  jobs: [{ kind: deliverWebhookKind, handler: deliverWebhook }],
  housekeeping: [{ name: 'delete deliveries of webhooks older than 30 days', run: deleteOldDeliveries }],
  dependents: {
    workspace: [
      {
        what: 'webhooks',
        count: (em, { id, organisationId }) => em.count(webhooks, { organisationId, workspaceId: id }),
        remove: async ({ tx }, { id, organisationId }) => {
          await tx.nativeDelete(webhooks, { organisationId, workspaceId: id });
        },
      },
    ],
  },
  samples: [
    {
      create: '/webhooks',
      item: '/webhooks/{slug}',
      list: '/webhooks',
      body: (tenant, _, n, mark) => ({
        workspace_id: tenant.workspaceId,
        name: `${mark} webhook ${n}`,
        slug: `${mark}-webhook-${n}`,
        url: `https://example.com/${mark}`,
        events: ['policy.exhausted'],
      }),
      update: (tenant, _, mark) => ({ workspace_id: tenant.workspaceId, name: `${mark} changed` }),
      ofWorkspace: true,
      idOf: slugOfReply,
    },
  ],
});

const keptDays = 30;
const batchMax = 1_000;

/** Deletes old entries of the delivery log in small batches. */
async function deleteOldDeliveries({ database, isClosing }: HousekeepingServices): Promise<void> {
  for (let deleted = batchMax; deleted === batchMax && !isClosing(); ) {
    const rows = await database.em().execute<unknown[]>(
      `delete from webhook_deliveries where id in
         (select id from webhook_deliveries where created_at < now() - make_interval(days => ?) limit ?) returning id`,
      [keptDays, batchMax],
    );
    deleted = rows.length;
  }
}

import { defineResource, slugOfReply } from '../../define-resource.ts';
import { integrations, integrationWorkspaces } from './entity.ts';
import { IntegrationHeaders } from './migrations/0018-integration-headers.ts';
import { ModelNames } from './migrations/202611220700-model-names.ts';
import { SavedPriceHistory } from './migrations/202611230040-price-history.ts';
import { integrationModels } from './models/model-entity.ts';
import { integrationModelRoutes } from './models/model-routes.ts';
import { integrationRoutes } from './routes.ts';
import { referenceUsers } from './secret-mappings/reference-users.ts';
import { secretMappings } from './secret-mappings/secret-mapping-entity.ts';
import { archiveIntegration } from './service.ts';
import { integrationWorkspaceRoutes } from './sharing/workspace-routes.ts';
import { integrationTestRoutes } from './test-connection/test-routes.ts';

export const integrationsResource = defineResource({
  name: 'integrations',
  after: ['workspaces', 'secret-references'],
  entities: [integrations, integrationWorkspaces, integrationModels, secretMappings],
  migrations: [
    { name: '0018-integration-headers', class: IntegrationHeaders },
    { name: '202611220700-model-names', class: ModelNames },
    { name: '202611230040-price-history', class: SavedPriceHistory },
  ],
  routes: [...integrationRoutes, ...integrationTestRoutes, ...integrationModelRoutes, ...integrationWorkspaceRoutes],
  dependents: {
    secretReference: [referenceUsers],
    workspace: [
      {
        what: 'integrations',
        count: (em, { id, organisationId }) => em.count(integrations, { organisationId, workspaceId: id, status: 'active' }),
        async remove(change, { id, organisationId }, all) {
          const own = { organisationId, workspaceId: id, status: 'active' } as const;
          for (const row of await change.tx.find(integrations, own)) await archiveIntegration(change, row, all);
        },
      },
      {
        what: 'shared integrations',
        remove: async ({ tx }, { id, organisationId }) => {
          await tx.nativeDelete(integrationWorkspaces, { organisationId, workspaceId: id });
        },
      },
    ],
  },
  samples: [
    {
      create: '/integrations',
      item: '/integrations/{slug}',
      list: '/integrations',
      body: (_, __, n, mark) => ({
        name: `${mark} integration ${n}`,
        slug: `${mark}-integration-${n}`,
        ai_provider_id: 'openai',
        key: `sk-${mark}-secret-${n}`,
        create_default_provider: false,
      }),
      update: (_, __, mark) => ({ description: `${mark} changed` }),
      ofWorkspace: false,
      idOf: slugOfReply,
    },
  ],
});

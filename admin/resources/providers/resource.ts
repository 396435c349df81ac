import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { announceProviders } from '../../announce/providers.ts';
import { defineResource, slugOfReply, splitDocumentId } from '../../define-resource.ts';
import { providers } from './entity.ts';
import { providerRoutes } from './routes.ts';
import { toProviderDocument } from './to-document.ts';
import { toModelsDocument } from './to-models-document.ts';

export const providersResource = defineResource({
  name: 'providers',
  after: ['integrations', 'configs'],
  entities: [providers],
  routes: providerRoutes,
  documents: [
    {
      kind: 'provider',
      async read({ database, vault, clusterKey }, id) {
        const name = splitDocumentId(id);
        return name && toProviderDocument(database.em(), vault, clusterKey, name.workspaceId, name.slug);
      },
    },
    { kind: 'workspace-models', read: async ({ database }, id) => (isUuid(id) ? toModelsDocument(database.em(), id) : null) },
  ],
  dependents: {
    integration: [{ what: 'providers', remove: (change, { id }) => announceProviders(change, id, 'delete') }],
    workspace: [
      {
        what: 'providers',
        count: (em, { id, organisationId }) => em.count(providers, { organisationId, workspaceId: id }),
        async remove({ tx, emit }, { id, organisationId }) {
          for (const row of await tx.find(providers, { organisationId, workspaceId: id }, { orderBy: { slug: 'asc' } })) {
            emit({ kind: 'provider', id: `${id}/${row.slug}`, op: 'delete' });
            tx.remove(row);
          }
          await tx.flush();
        },
      },
    ],
  },
  samples: [
    {
      create: '/providers',
      item: '/providers/{slug}',
      list: '/providers',
      body: (tenant, made, n, mark) => ({
        workspace_id: tenant.workspaceId,
        name: `${mark} provider ${n}`,
        slug: `${mark}-provider-${n}`,
        integration_id: made['/integrations'],
      }),
      update: (tenant, _, mark) => ({ workspace_id: tenant.workspaceId, note: `${mark} changed` }),
      ofWorkspace: true,
      idOf: slugOfReply,
    },
  ],
});

import { defineResource, slugOfReply, splitDocumentId } from '../../define-resource.ts';
import { configs, configVersions } from './entity.ts';
import { configRoutes } from './routes.ts';
import { toConfigDocument } from './to-document.ts';

export const configsResource = defineResource({
  name: 'configs',
  after: ['workspaces', 'integrations'],
  entities: [configs, configVersions],
  routes: configRoutes,
  documents: [
    {
      kind: 'config',
      async read({ database }, id) {
        const name = splitDocumentId(id);
        return name && toConfigDocument(database.em(), name.workspaceId, name.slug);
      },
    },
  ],
  dependents: {
    workspace: [
      {
        what: 'configs',
        count: (em, { id, organisationId }) => em.count(configs, { organisationId, workspaceId: id, status: 'active' }),
        async remove({ tx, emit }, { id, organisationId }) {
          const own = { organisationId, workspaceId: id, status: 'active' } as const;
          for (const row of await tx.find(configs, own, { orderBy: { slug: 'asc' } })) {
            emit({ kind: 'config', id: `${id}/${row.slug}`, op: 'delete' });
            row.status = 'archived';
            row.isDefault = false;
          }
        },
      },
    ],
  },
  samples: [
    {
      create: '/configs',
      item: '/configs/{slug}',
      list: '/configs',
      body: (tenant, _, n, mark) => ({
        workspace_id: tenant.workspaceId,
        name: `${mark} config ${n}`,
        slug: `${mark}-config-${n}`,
        config: { provider: '@mock' },
      }),
      update: (tenant, _, mark) => ({ workspace_id: tenant.workspaceId, name: `${mark} changed` }),
      ofWorkspace: true,
      idOf: slugOfReply,
    },
  ],
});

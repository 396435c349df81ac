import { defineResource, idOfReply } from '../../define-resource.ts';
import { promptCollections } from './entity.ts';
import { PromptCollections } from './migrations/202611222010-prompt-collections.ts';
import { promptCollectionRoutes } from './routes.ts';

export const promptCollectionsResource = defineResource({
  name: 'prompt-collections',
  after: ['workspaces'],
  entities: [promptCollections],
  migrations: [{ name: '202611222010-prompt-collections', class: PromptCollections }],
  routes: promptCollectionRoutes,
  dependents: {
    workspace: [
      {
        what: 'prompt collections',
        count: (em, { id, organisationId }) =>
          em.count(promptCollections, { organisationId, workspaceId: id, isDefault: false, status: 'active' }),
        async remove({ tx }, { id, organisationId }) {
          await tx.nativeUpdate(promptCollections, { organisationId, workspaceId: id }, { status: 'archived' });
        },
      },
    ],
  },
  samples: [
    {
      create: '/collections',
      item: '/collections/{collectionId}',
      list: '/collections',
      body: (tenant, _, n, mark) => ({ workspace_id: tenant.workspaceId, name: `${mark} collection ${n}` }),
      update: (tenant, _, mark) => ({ workspace_id: tenant.workspaceId, name: `${mark} changed` }),
      ofWorkspace: true,
      idOf: idOfReply,
    },
  ],
});

import { defineResource, slugOfReply } from '../../define-resource.ts';
import { promptPartials, promptPartialVersions } from './entity.ts';
import { PromptPartials } from './migrations/202611222012-prompt-partials.ts';
import { promptPartialRoutes } from './routes.ts';
import { announceShare, archivePartial } from './service.ts';
import { withoutWorkspace } from './share.ts';
import { partialShareRoutes } from './share-routes.ts';
import { toPartialDocument } from './to-document.ts';

export const promptPartialsResource = defineResource({
  name: 'prompt-partials',
  after: ['prompt-collections'],
  entities: [promptPartials, promptPartialVersions],
  migrations: [{ name: '202611222012-prompt-partials', class: PromptPartials }],
  routes: [...promptPartialRoutes, ...partialShareRoutes],
  documents: [{ kind: 'prompt-partial', read: ({ database }, id) => toPartialDocument(database.em(), id) }],
  dependents: {
    workspace: [
      {
        what: 'prompt partials',
        async refuse(em, { id, organisationId }) {
          const shared = await em.count(promptPartials, {
            organisationId,
            workspaceId: id,
            status: 'active',
            sharedWith: { $ne: null },
          });
          return shared === 0 ? null : `This workspace still shares ${shared} prompt partials. Stop sharing them first`;
        },
        count: (em, { id, organisationId }) => em.count(promptPartials, { organisationId, workspaceId: id, status: 'active' }),
        async remove(change, { id, organisationId }) {
          const own = { organisationId, workspaceId: id, status: 'active' } as const;
          for (const row of await change.tx.find(promptPartials, own, { orderBy: { slug: 'asc' } })) archivePartial(change, row);
          const received = { organisationId, status: 'active', sharedWith: { $contains: [id] } } as const;
          for (const row of await change.tx.find(promptPartials, received, { orderBy: { slug: 'asc' } })) {
            row.sharedWith = withoutWorkspace(row, id);
            announceShare(change, row);
          }
        },
      },
    ],
    collection: [
      {
        what: 'partials',
        count: (em, { id, organisationId }) => em.count(promptPartials, { organisationId, collectionId: id, status: 'active' }),
        async remove(change, { id, organisationId }) {
          const own = { organisationId, collectionId: id, status: 'active' } as const;
          for (const row of await change.tx.find(promptPartials, own, { orderBy: { slug: 'asc' } })) archivePartial(change, row);
        },
      },
    ],
  },
  samples: [
    {
      create: '/prompts/partials',
      item: '/prompts/partials/{promptPartialId}',
      list: '/prompts/partials',
      body: (tenant, made, n, mark) => ({
        workspace_id: tenant.workspaceId,
        collection_id: made['/collections'],
        name: `${mark} partial ${n}`,
        string: `${mark} {{name}}`,
      }),
      update: (tenant, made, mark) => ({
        workspace_id: tenant.workspaceId,
        name: `${mark} changed`,
        collection_id: made['/collections'],
      }),
      ofWorkspace: true,
      idOf: slugOfReply,
    },
  ],
});

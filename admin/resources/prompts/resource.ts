import { counted } from '../../../core/contract/values/text/counted.ts';
import { defineResource, slugOfReply } from '../../define-resource.ts';
import { withoutWorkspace } from '../prompt-partials/share.ts';
import { promptDiffRoute } from './diff-route.ts';
import { promptLabelVersions, prompts, promptVersions } from './entity.ts';
import { promptVersionLabelRoutes } from './label-routes.ts';
import { Prompts } from './migrations/202611222013-prompts.ts';
import { promptRoutes } from './routes.ts';
import { announce, announceShare, archivePrompt } from './service.ts';
import { promptShareRoutes } from './share-routes.ts';
import { toPromptDocument } from './to-document.ts';

export const promptsResource = defineResource({
  name: 'prompts',
  // Paths of test sets are more specific.
  after: ['prompt-collections', 'prompt-labels', 'prompt-partials', 'prompt-tests', 'providers'],
  entities: [prompts, promptVersions, promptLabelVersions],
  migrations: [{ name: '202611222013-prompts', class: Prompts }],
  routes: [...promptRoutes, ...promptVersionLabelRoutes, ...promptShareRoutes, promptDiffRoute],
  documents: [{ kind: 'prompt', read: ({ database }, id) => toPromptDocument(database.em(), id) }],
  dependents: {
    workspace: [
      {
        what: 'prompts',
        async refuse(em, { id, organisationId }) {
          const shared = await em.count(prompts, {
            organisationId,
            workspaceId: id,
            status: 'active',
            sharedWith: { $ne: null },
          });
          return shared === 0 ? null : `This workspace still shares ${counted(shared, 'prompt')}. Stop sharing first`;
        },
        count: (em, { id, organisationId }) => em.count(prompts, { organisationId, workspaceId: id, status: 'active' }),
        async remove(change, { id, organisationId }) {
          const own = { organisationId, workspaceId: id, status: 'active' } as const;
          for (const row of await change.tx.find(prompts, own, { orderBy: { slug: 'asc' } })) archivePrompt(change, row);
          const received = { organisationId, status: 'active', sharedWith: { $contains: [id] } } as const;
          for (const row of await change.tx.find(prompts, received, { orderBy: { slug: 'asc' } })) {
            row.sharedWith = withoutWorkspace(row, id);
            announceShare(change, row);
          }
        },
      },
    ],
    collection: [
      {
        what: 'prompts',
        count: (em, { id, organisationId }) => em.count(prompts, { organisationId, collectionId: id, status: 'active' }),
        async remove(change, { id, organisationId }) {
          const own = { organisationId, collectionId: id, status: 'active' } as const;
          for (const row of await change.tx.find(prompts, own, { orderBy: { slug: 'asc' } })) archivePrompt(change, row);
        },
      },
    ],
    label: [
      {
        what: 'prompts',
        async changed(change, { id, organisationId }) {
          const using = await change.tx.find(promptLabelVersions, { organisationId, labelId: id });
          const where = { id: { $in: using.map(({ promptId }) => promptId) }, status: 'active' } as const;
          for (const row of await change.tx.find(prompts, where, { orderBy: { slug: 'asc' } })) announce(change, row, 'upsert');
        },
        async remove(change, owner, all) {
          for (const { changed } of all.label) await changed?.(change, owner);
          await change.tx.nativeDelete(promptLabelVersions, { organisationId: owner.organisationId, labelId: owner.id });
        },
      },
    ],
  },
  samples: [
    {
      create: '/prompts',
      item: '/prompts/{promptId}',
      list: '/prompts',
      body: (tenant, made, n, mark) => ({
        workspace_id: tenant.workspaceId,
        name: `${mark} prompt ${n}`,
        collection_id: made['/collections'],
        string: JSON.stringify([{ role: 'user', content: `${mark} {{name}}` }]),
        parameters: { model: 'echo', max_tokens: 10 },
        virtual_key: 'mock',
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

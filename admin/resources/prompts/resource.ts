import { defineResource, slugOfReply } from '../../define-resource.ts';
import { sharedDependents } from '../prompt-partials/shared-items.ts';
import { promptDiffRoute } from './diff-route.ts';
import { promptLabelVersions, prompts, promptVersions } from './entity.ts';
import { promptVersionLabelRoutes } from './label-routes.ts';
import { Prompts } from './migrations/202611222013-prompts.ts';
import { promptRoutes } from './routes.ts';
import { announce } from './service.ts';
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
    ...sharedDependents({
      document: 'prompt',
      noun: 'prompt',
      inCollection: 'prompts',
      count: (em, where) => em.count(prompts, where),
      find: (em, where) => em.find(prompts, where, { orderBy: { slug: 'asc' } }),
    }),
    label: [
      {
        what: 'prompts',
        async changed(change, { id, organisationId }) {
          const using = await change.tx.find(promptLabelVersions, { organisationId, labelId: id });
          const where = { id: { $in: using.map(({ promptId }) => promptId) }, status: 'active' } as const;
          for (const row of await change.tx.find(prompts, where, { orderBy: { slug: 'asc' } })) announce(change, row);
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

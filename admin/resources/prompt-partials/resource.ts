import { defineResource, slugOfReply } from '../../define-resource.ts';
import { promptPartials, promptPartialVersions } from './entity.ts';
import { PromptPartials } from './migrations/202611222012-prompt-partials.ts';
import { promptPartialRoutes } from './routes.ts';
import { partialShareRoutes } from './share-routes.ts';
import { sharedDependents } from './shared-items.ts';
import { toPartialDocument } from './to-document.ts';

export const promptPartialsResource = defineResource({
  name: 'prompt-partials',
  after: ['prompt-collections'],
  entities: [promptPartials, promptPartialVersions],
  migrations: [{ name: '202611222012-prompt-partials', class: PromptPartials }],
  routes: [...promptPartialRoutes, ...partialShareRoutes],
  documents: [{ kind: 'prompt-partial', read: ({ database }, id) => toPartialDocument(database.em(), id) }],
  dependents: sharedDependents({
    document: 'prompt-partial',
    noun: 'prompt partial',
    inCollection: 'partials',
    count: (em, where) => em.count(promptPartials, where),
    find: (em, where) => em.find(promptPartials, where, { orderBy: { slug: 'asc' } }),
  }),
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

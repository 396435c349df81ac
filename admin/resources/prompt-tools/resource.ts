import { defineResource, slugOfReply } from '../../define-resource.ts';
import { promptTools, promptToolVersions } from './entity.ts';
import { PromptTools } from './migrations/202611222115-prompt-tools.ts';
import { promptToolRoutes } from './routes.ts';

export const promptToolsResource = defineResource({
  name: 'prompt-tools',
  after: ['prompt-collections'],
  entities: [promptTools, promptToolVersions],
  migrations: [{ name: '202611222115-prompt-tools', class: PromptTools }],
  routes: promptToolRoutes,
  dependents: {
    workspace: [
      {
        what: 'tools',
        count: (em, { id, organisationId }) => em.count(promptTools, { organisationId, workspaceId: id, status: 'active' }),
        async remove({ tx }, { id, organisationId }) {
          await tx.nativeUpdate(promptTools, { organisationId, workspaceId: id }, { status: 'archived' });
        },
      },
    ],
    collection: [
      {
        what: 'tools',
        count: (em, { id, organisationId }) => em.count(promptTools, { organisationId, collectionId: id, status: 'active' }),
        async remove({ tx }, { id, organisationId }) {
          await tx.nativeUpdate(promptTools, { organisationId, collectionId: id }, { status: 'archived' });
        },
      },
    ],
  },
  samples: [
    {
      create: '/tools',
      item: '/tools/{toolId}',
      list: '/tools',
      body: (tenant, made, n, mark) => ({
        workspace_id: tenant.workspaceId,
        collection_id: made['/collections'],
        name: `${mark} tool ${n}`,
        tool_def: { type: 'function', function: { name: `${mark}_tool` } },
      }),
      update: (tenant, _, mark) => ({ workspace_id: tenant.workspaceId, name: `${mark} changed` }),
      ofWorkspace: true,
      idOf: slugOfReply,
    },
  ],
});

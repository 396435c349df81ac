import { defineResource, idOfReply } from '../../define-resource.ts';
import { promptLabels } from './entity.ts';
import { PromptLabels } from './migrations/202611222011-prompt-labels.ts';
import { promptLabelRoutes } from './routes.ts';

export const promptLabelsResource = defineResource({
  name: 'prompt-labels',
  after: ['workspaces'],
  entities: [promptLabels],
  migrations: [{ name: '202611222011-prompt-labels', class: PromptLabels }],
  routes: promptLabelRoutes,
  dependents: {
    workspace: [
      {
        what: 'prompt labels',
        async remove({ tx }, { id, organisationId }) {
          await tx.nativeUpdate(promptLabels, { organisationId, workspaceId: id }, { status: 'archived' });
        },
      },
    ],
  },
  samples: [
    {
      create: '/labels',
      item: '/labels/{labelId}',
      list: '/labels',
      body: (tenant, _, n, mark) => ({ workspace_id: tenant.workspaceId, name: `${mark}-label-${n}`, color_code: '#336699' }),
      update: (tenant, _, mark) => ({ workspace_id: tenant.workspaceId, description: `${mark} changed` }),
      ofWorkspace: true,
      idOf: idOfReply,
    },
  ],
});

import { defineResource } from '../../define-resource.ts';
import { workspaceExclusions } from './entity.ts';
import { workspaceExclusionRoutes } from './routes.ts';

export const workspaceExclusionsResource = defineResource({
  name: 'workspace-exclusions',
  after: ['workspaces'],
  entities: [workspaceExclusions],
  routes: workspaceExclusionRoutes,
  dependents: {
    workspace: [
      {
        what: 'exclusions',
        remove: async ({ tx }, { id, organisationId }) => {
          await tx.nativeDelete(workspaceExclusions, { organisationId, workspaceId: id });
        },
      },
    ],
  },
});

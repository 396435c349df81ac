import { defineResource } from '../../define-resource.ts';
import { workspaceMembers } from './entity.ts';
import { workspaceUserRoutes } from './routes.ts';

export const workspaceUsersResource = defineResource({
  name: 'workspace-users',
  after: ['users', 'workspaces'],
  entities: [workspaceMembers],
  routes: workspaceUserRoutes,
  dependents: {
    workspace: [
      {
        what: 'members',
        remove: async ({ tx }, { id, organisationId }) => {
          await tx.nativeDelete(workspaceMembers, { organisationId, workspaceId: id });
        },
      },
    ],
  },
});

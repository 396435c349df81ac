import { defineResource } from '../../define-resource.ts';
import { scimGroupMembers, scimGroups, scimGroupWorkspaces } from './entity.ts';
import { ScimGroups } from './migrations/202611230247-scim-groups.ts';
import { scimGroupRoutes } from './routes.ts';
import { scimWorkspaceRoutes } from './workspace-routes.ts';

export const scimGroupsResource = defineResource({
  name: 'scim-groups',
  after: ['scim-users', 'workspaces'],
  entities: [scimGroups, scimGroupMembers, scimGroupWorkspaces],
  migrations: [{ name: '202611230247-scim-groups', class: ScimGroups }],
  routes: [...scimWorkspaceRoutes, ...scimGroupRoutes],
  dependents: {
    workspace: [
      {
        what: 'mappings of groups',
        remove: async ({ tx }, { id, organisationId }) => {
          await tx.nativeDelete(scimGroupWorkspaces, { organisationId, workspaceId: id });
        },
      },
    ],
  },
  samples: [
    {
      create: '/scim/workspaces',
      item: null,
      list: '/scim/workspaces',
      body: (tenant, _, n, mark) => ({ workspace_id: tenant.workspaceId, role: 'member', scim_group_name: `${mark} group ${n}` }),
      update: () => null,
      ofWorkspace: false,
      idOf: (reply) => String(reply.id),
    },
  ],
});

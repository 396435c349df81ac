import { defineResource, idOfReply } from '../../define-resource.ts';
import { acceptInviteRoute } from './accept-route.ts';
import { userInvites } from './entity.ts';
import { userInviteRoutes } from './routes.ts';

export const userInvitesResource = defineResource({
  name: 'user-invites',
  after: ['organisations'],
  entities: [userInvites],
  routes: userInviteRoutes,
  publicRoutes: [acceptInviteRoute],
  samples: [
    {
      create: '/admin/users/invites',
      item: '/admin/users/invites/{inviteId}',
      list: '/admin/users/invites',
      body: (tenant, _, n, mark) => ({
        email: `${mark}-invited-${n}@example.com`,
        role: 'member',
        workspaces: [{ id: tenant.workspaceId, role: 'member' }],
      }),
      update: () => null,
      ofWorkspace: false,
      staysListed: true,
      idOf: idOfReply,
    },
  ],
});

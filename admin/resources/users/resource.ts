import { defineResource, idOfReply } from '../../define-resource.ts';
import { toUserDocument } from '../../identity/jwt/documents.ts';
import { removedUsers, users } from './entity.ts';
import { RemovedUsers } from './migrations/202611301145-removed-users.ts';
import { userRoutes } from './routes.ts';

export const usersResource = defineResource({
  name: 'users',
  // The routes of invites precede these, because they are more specific: /admin/users/invites and /admin/users/:userId.
  after: ['organisations', 'user-invites'],
  entities: [users, removedUsers],
  migrations: [{ name: '202611301145-removed-users', class: RemovedUsers }],
  routes: userRoutes,
  documents: [{ kind: 'user', read: ({ database }, id) => toUserDocument(database.em(), id) }],
  samples: [
    {
      create: '/admin/users',
      item: '/admin/users/{userId}',
      list: '/admin/users',
      body: (tenant, _, n, mark) => ({
        email: `${mark}-${n}@example.com`,
        first_name: mark,
        last_name: 'Person',
        role: 'member',
        workspaces: [{ id: tenant.workspaceId, role: 'member' }],
      }),
      update: (_, __, mark) => ({ first_name: `${mark} changed` }),
      ofWorkspace: false,
      idOf: idOfReply,
    },
  ],
});

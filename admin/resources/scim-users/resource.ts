import { defineResource } from '../../define-resource.ts';
import { discoveryRoutes } from './discovery-routes.ts';
import { ScimUsers } from './migrations/202611230246-scim-users.ts';
import { provisionKeysJob, provisionKeysKind } from './provision-keys.ts';
import { scimUserRoutes } from './routes.ts';

export const scimUsersResource = defineResource({
  name: 'scim-users',
  after: ['scim-tokens', 'users', 'workspace-users'],
  migrations: [{ name: '202611230246-scim-users', class: ScimUsers }],
  routes: [...discoveryRoutes, ...scimUserRoutes],
  jobs: [{ kind: provisionKeysKind, handler: provisionKeysJob }],
});

import type { PublicRoute } from '../http/public-route.ts';
import type { AdminRoute } from '../http/route.ts';
import { loginRoute } from '../identity/login-route.ts';
import { passwordRoutes } from '../identity/password-routes.ts';
import { sessionRoutes } from '../identity/session-routes.ts';
import { apiKeyRoutes } from './api-keys/routes.ts';
import { auditLogRoutes } from './audit-logs/routes.ts';
import { batchRoutes } from './batches/routes.ts';
import { configRoutes } from './configs/routes.ts';
import { integrationModelRoutes } from './integrations/model-routes.ts';
import { integrationRoutes } from './integrations/routes.ts';
import { integrationTestRoutes } from './integrations/test-routes.ts';
import { integrationWorkspaceRoutes } from './integrations/workspace-routes.ts';
import { logRoutes } from './logs/routes.ts';
import { modelConfigRoutes } from './model-configs/routes.ts';
import { organisationMemberRoutes } from './organisation-members/routes.ts';
import { organisationUtilityRoutes } from './organisation-utilities/routes.ts';
import { organisationRoutes } from './organisations/routes.ts';
import { providerRoutes } from './providers/routes.ts';
import { secretReferenceRoutes } from './secret-references/routes.ts';
import { acceptInviteRoute } from './user-invites/accept-route.ts';
import { userInviteRoutes } from './user-invites/routes.ts';
import { userRoutes } from './users/routes.ts';
import { virtualKeyRoutes } from './virtual-keys/routes.ts';
import { workspaceExclusionRoutes } from './workspace-exclusions/routes.ts';
import { workspaceUserRoutes } from './workspace-users/routes.ts';
import { workspaceRoutes } from './workspaces/routes.ts';

/** Every route of the admin API. A new resource adds its line. */
export const adminRoutes: readonly AdminRoute[] = [
  ...sessionRoutes,
  ...organisationRoutes,
  ...organisationMemberRoutes,
  ...organisationUtilityRoutes,
  ...userInviteRoutes,
  ...userRoutes,
  ...workspaceRoutes,
  ...workspaceUserRoutes,
  ...workspaceExclusionRoutes,
  ...secretReferenceRoutes,
  ...integrationRoutes,
  ...integrationTestRoutes,
  ...integrationModelRoutes,
  ...integrationWorkspaceRoutes,
  ...providerRoutes,
  ...virtualKeyRoutes,
  ...modelConfigRoutes,
  ...configRoutes,
  ...apiKeyRoutes,
  ...batchRoutes,
  ...logRoutes,
  ...auditLogRoutes,
];

/** Routes that work before anybody is known. */
export const publicRoutes: readonly PublicRoute[] = [loginRoute, ...passwordRoutes, acceptInviteRoute];

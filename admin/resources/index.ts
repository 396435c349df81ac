import type { AdminRoute } from '../http/route.ts';
import { apiKeyRoutes } from './api-keys/routes.ts';
import { auditLogRoutes } from './audit-logs/routes.ts';
import { configRoutes } from './configs/routes.ts';
import { integrationRoutes } from './integrations/routes.ts';
import { integrationWorkspaceRoutes } from './integrations/workspace-routes.ts';
import { logRoutes } from './logs/routes.ts';
import { organisationRoutes } from './organisations/routes.ts';
import { providerRoutes } from './providers/routes.ts';
import { workspaceExclusionRoutes } from './workspace-exclusions/routes.ts';
import { workspaceRoutes } from './workspaces/routes.ts';

/** Every route of the admin API. A new resource adds its line. */
export const adminRoutes: readonly AdminRoute[] = [
  ...organisationRoutes,
  ...workspaceRoutes,
  ...workspaceExclusionRoutes,
  ...integrationRoutes,
  ...integrationWorkspaceRoutes,
  ...providerRoutes,
  ...configRoutes,
  ...apiKeyRoutes,
  ...logRoutes,
  ...auditLogRoutes,
];

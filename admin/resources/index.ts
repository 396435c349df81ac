import type { AdminRoute } from '../http/route.ts';
import { apiKeyRoutes } from './api-keys/routes.ts';
import { configRoutes } from './configs/routes.ts';
import { integrationRoutes } from './integrations/routes.ts';
import { providerRoutes } from './providers/routes.ts';

/** Every route of the admin API. A new resource adds its line. */
export const adminRoutes: readonly AdminRoute[] = [...integrationRoutes, ...providerRoutes, ...configRoutes, ...apiKeyRoutes];

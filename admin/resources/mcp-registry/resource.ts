import { defineResource } from '../../define-resource.ts';
import { mcpRegistryRoutes } from './routes.ts';

export const mcpRegistryResource = defineResource({
  name: 'mcp-registry',
  after: ['mcp-virtual-servers'],
  routes: mcpRegistryRoutes,
});

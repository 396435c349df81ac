import { defineResource } from '../../define-resource.ts';
import { loadedPluginRoutes } from './routes.ts';

export const loadedPluginsResource = defineResource({ name: 'loaded-plugins', routes: loadedPluginRoutes });

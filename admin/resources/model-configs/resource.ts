import { defineResource } from '../../define-resource.ts';
import { modelConfigRoutes } from './routes.ts';

export const modelConfigsResource = defineResource({ name: 'model-configs', after: ['integrations'], routes: modelConfigRoutes });

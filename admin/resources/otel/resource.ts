import { defineResource } from '../../define-resource.ts';
import { otelRoutes } from './routes.ts';

export const otelResource = defineResource({ name: 'otel', after: ['logs'], routes: otelRoutes });

import { defineResource } from '../../define-resource.ts';
import { auditLogRoutes } from './routes.ts';

export const auditLogsResource = defineResource({ name: 'audit-logs', after: ['organisations'], routes: auditLogRoutes });

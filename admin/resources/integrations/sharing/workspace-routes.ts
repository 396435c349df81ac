import { emptyReply } from '../../../http/reply/reply-schemas.ts';
import { tenantQuery } from '../../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../../http/route.ts';
import { readUsageOf } from '../../../leases/read-usage.ts';
import { usageLimitsReply } from '../../../limits/schema.ts';
import { integrationWorkspaces } from '../entity.ts';
import { workspacesReply } from '../reply-schema.ts';
import { workspacesBody } from '../schema.ts';
import { findOwnIntegration } from '../service.ts';
import { globalAccessOf } from '../to-reply.ts';
import { shareIntegration } from './share.ts';

/** Routes for the workspaces that may use an organisation's integration (`/workspaces`). */
export const integrationWorkspaceRoutes: readonly AdminRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/integrations/:slug/workspaces',
    summary: 'List the workspaces that can use an integration',
    reply: workspacesReply,
    scopes: ['organisation_integrations.read'],
    tenant: 'organisation',
    resource: 'integrations',
    action: 'list-workspaces',
    query: tenantQuery,
    body: null,
    async handle(call) {
      const integration = await findOwnIntegration(call.em, call, call.params.slug ?? '');
      call.tag(integration.revision);
      const rows = await call.em.find(
        integrationWorkspaces,
        { integrationId: integration.id },
        { orderBy: { createdAt: 'asc' } },
      );
      const usage = await readUsageOf(call.em, integration.organisationId, rows, call.services.clock.now());
      return {
        object: 'list',
        total: rows.length,
        workspaces: rows.map((row) => ({
          id: row.workspaceId,
          enabled: row.enabled,
          usage_limits: row.usageLimits ? [usageLimitsReply(row.usageLimits, usage.get(row.usageLimits.id))] : null,
          rate_limits: row.rateLimits.length > 0 ? row.rateLimits : null,
          status: row.enabled ? (row.exhaustedAt ? 'exhausted' : 'active') : 'archived',
          created_at: row.createdAt.toISOString(),
          last_updated_at: row.lastUpdatedAt.toISOString(),
          last_reset_at: row.lastResetAt?.toISOString() ?? null,
        })),
        global_workspace_access: globalAccessOf(integration),
      };
    },
  }),
  defineRoute({
    method: 'PUT',
    path: '/integrations/:slug/workspaces',
    summary: 'Change which workspaces can use an integration',
    reply: emptyReply,
    scopes: ['organisation_integrations.update'],
    tenant: 'organisation',
    resource: 'integrations',
    action: 'update-workspaces',
    query: tenantQuery,
    body: workspacesBody,
    async handle(call) {
      await call.write(async (change) => {
        const integration = await findOwnIntegration(change.tx, call, call.params.slug ?? '', 'for update');
        call.match(integration);
        await shareIntegration(change, integration, call.body);
      });
      return {};
    },
  }),
];

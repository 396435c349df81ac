import { levelScopes } from '../../access/level-scopes.ts';
import { emptyReply } from '../../http/reply/reply-schemas.ts';
import { tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { approvalBody, approvalQuery, approvalsReply } from './approval-schema.ts';
import { listApprovals } from './list-approvals.ts';
import { mcpIntegrationAccess } from './service.ts';
import { approveTools } from './tool-approvals.ts';

const scopes = levelScopes('mcp_integrations');
const shared = {
  tenant: 'either',
  resource: 'mcp_integrations',
  body: null,
  path: '/mcp-integrations/:mcpIntegrationId/tool-approvals',
} as const;

/** Routes of the approvals of tools. */
export const toolApprovalRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    summary: 'List the tools of an MCP integration with their approvals, changes since then and suspicious texts',
    scopes: scopes('read'),
    action: 'list-tool-approvals',
    query: approvalQuery,
    reply: approvalsReply,
    async handle(call) {
      const row = await mcpIntegrationAccess.findOwn(call.em, call, call.params.mcpIntegrationId ?? '');
      return listApprovals(call.em, row, call.query);
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    hasNoVersion: true,
    summary: 'Approve tools of an MCP integration as displayed, or withdraw approvals',
    scopes: scopes('update'),
    action: 'approve-tools',
    query: tenantQuery,
    body: approvalBody,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await mcpIntegrationAccess.findOwn(change.tx, call, call.params.mcpIntegrationId ?? '', 'for update');
        mcpIntegrationAccess.requireOwner(call.actor, row.workspaceId, 'update');
        await approveTools(change, row, call.actor, call.body);
      });
      return {};
    },
  }),
];

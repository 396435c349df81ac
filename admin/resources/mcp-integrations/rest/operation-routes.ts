import * as v from 'valibot';
import { nullableText } from '../../../http/reply/reply-schemas.ts';
import { tenantQuery } from '../../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../../http/route.ts';
import { mcpIntegrationAccess } from '../service.ts';
import { findRestApi } from './rest-api.ts';
import { openApiDeadlineMs, runOpenApiTask } from './run-openapi-task.ts';

const operationsReply = v.strictObject({
  object: v.literal('list'),
  total: v.number(),
  data: v.array(
    v.strictObject({
      /** Name for `configurations.openapi.operations`. */
      id: v.string(),
      method: v.string(),
      path: v.string(),
      selected: v.boolean(),
      /** Name of the tool; null if the operation cannot be one. */
      tool: nullableText,
      description: nullableText,
      /** The reason why the operation cannot be a tool; null if it can. */
      problem: nullableText,
    }),
  ),
});

/** Routes of the operations of REST APIs. */
export const restOperationRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...{ tenant: 'either', resource: 'mcp_integrations', query: tenantQuery, body: null },
    method: 'GET',
    path: '/mcp-integrations/:mcpIntegrationId/operations',
    summary: 'List the operations of the OpenAPI document of an MCP integration, and which of them are tools',
    scopes: ['organisation_mcp_integrations.read', 'workspace_mcp_integrations.read'],
    action: 'list-operations',
    deadlineMs: openApiDeadlineMs,
    reply: operationsReply,
    async handle(call) {
      const row = await mcpIntegrationAccess.findOwn(call.em, call, call.params.mcpIntegrationId ?? '');
      const stored = await findRestApi(call.em, row);
      if (!stored) return { object: 'list', total: 0, data: [] };
      const selected = new Set(row.configurations.openapi?.operations);
      const operations = await runOpenApiTask('list', { document: stored.document });
      const data = operations.map((one) => ({
        ...one,
        selected: selected.has(one.id) || selected.has(`${one.method} ${one.path}`),
      }));
      return { object: 'list', total: data.length, data };
    },
  }),
];

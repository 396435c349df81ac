import { tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { findGuardrail, mappingsOf } from '../guardrails/service.ts';
import { changedReply, mappingBody, mappingReply, mappingsBody, mappingsReply } from './guardrail-schema.ts';
import { putMapping, replaceMappings, toMapping } from './guardrails.ts';

const shared = { tenant: 'either', resource: 'guardrails', query: tenantQuery, body: null } as const;
const scopes = (action: string) => [`guardrails.${action}`, `organisation_guardrails.${action}`];
const path = '/guardrails/:guardrailId/mcp-servers';

/** Routes of the MCP servers that a guardrail runs on. */
export const mcpGuardrailRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path,
    summary: 'List the MCP servers that a guardrail runs on',
    scopes: scopes('read'),
    action: 'list-mcp-servers',
    reply: mappingsReply,
    async handle(call) {
      const row = await findGuardrail(call.em, call, call.params.guardrailId ?? '', 'read');
      const data = (await mappingsOf(call, row)).map(toMapping);
      return { object: 'list', total: data.length, data };
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path,
    hasNoVersion: true,
    summary: 'Replace the MCP servers that a guardrail runs on',
    scopes: scopes('update'),
    action: 'replace-mcp-servers',
    body: mappingsBody,
    reply: changedReply,
    handle: (call) =>
      call.write(async (change) => {
        const row = await findGuardrail(change.tx, call, call.params.guardrailId ?? '', 'update', 'for update');
        return replaceMappings(change, row, call.workspaceId, call.body.mcp_servers);
      }),
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: `${path}/:mcpServerId`,
    hasNoVersion: true,
    summary: 'Add an MCP server to those that a guardrail runs on, or change it',
    scopes: scopes('update'),
    action: 'update-mcp-server',
    body: mappingBody,
    reply: mappingReply,
    async handle(call) {
      const server = call.params.mcpServerId ?? '';
      const id = await call.write(async (change) => {
        const row = await findGuardrail(change.tx, call, call.params.guardrailId ?? '', 'update', 'for update');
        return putMapping(change, row, call.workspaceId, server, call.body);
      });
      return { map_id: id };
    },
  }),
];

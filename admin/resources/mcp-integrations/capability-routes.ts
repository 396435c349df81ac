import { levelScopes } from '../../access/level-scopes.ts';
import { invalid } from '../../http/errors.ts';
import { checkHost } from '../../http/gateways/check-host.ts';
import { tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { listCapabilities, setFlags, storeFailedSync, storeSync, toSynced } from './capabilities.ts';
import {
  capabilitiesBody,
  capabilitiesReply,
  capabilityQuery,
  successReply,
  syncBody,
  syncReply,
  testReply,
} from './capability-schema.ts';
import { inspectIntegration, toTestReply } from './inspect.ts';
import { capabilitiesOf, findRestApi, infoOf } from './rest/rest-api.ts';
import { mcpIntegrationAccess } from './service.ts';
import { toCapabilityPage } from './to-capability-page.ts';

const scopes = levelScopes('mcp_integrations');
const shared = { tenant: 'either', resource: 'mcp_integrations', query: tenantQuery, body: null } as const;
const item = '/mcp-integrations/:mcpIntegrationId';

/** Routes of the capabilities of MCP integrations, and of calls to their servers. */
export const mcpCapabilityRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${item}/capabilities`,
    summary: 'List the tools, prompts and resources of an MCP integration, with their flags',
    scopes: scopes('read'),
    action: 'list-capabilities',
    query: capabilityQuery,
    reply: capabilitiesReply,
    async handle(call) {
      const row = await mcpIntegrationAccess.findReadable(call.em, call, call.params.mcpIntegrationId ?? '');
      const all = await listCapabilities(call.em, row);
      return toCapabilityPage(
        all.map((one) => ({ row: one, enabled: one.enabled })),
        call.query,
      );
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: `${item}/capabilities`,
    hasNoVersion: true,
    summary: 'Enable and disable capabilities for every server of an MCP integration',
    scopes: scopes('update'),
    action: 'update-capabilities',
    body: capabilitiesBody,
    reply: successReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await mcpIntegrationAccess.findOwn(change.tx, call, call.params.mcpIntegrationId ?? '', 'for update');
        mcpIntegrationAccess.requireOwner(call.actor, row.workspaceId, 'update');
        await setFlags(change, row, call.body.capabilities);
      });
      return { success: true };
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: `${item}/sync`,
    summary: 'Store what the server of an MCP integration offers: what was sent, or else what a gateway finds',
    scopes: scopes('update'),
    action: 'sync',
    body: syncBody,
    reply: syncReply,
    async handle(call) {
      const { body, services } = call;
      const name = call.params.mcpIntegrationId ?? '';
      const before = await mcpIntegrationAccess.findOwn(call.em, call, name);
      mcpIntegrationAccess.requireOwner(call.actor, before.workspaceId, 'update');
      const api = before.transport === 'rest' ? await findRestApi(call.em, before) : null;
      if (api && body.capabilities)
        throw invalid('capabilities: the tools of this integration are operations of its OpenAPI document');
      const found = api
        ? { error: null, info: infoOf(api.document), capabilities: capabilitiesOf(api.api) }
        : body.capabilities
          ? {
              ...{ error: null, info: body.server_info ?? null },
              capabilities: body.capabilities.map(toSynced),
            }
          : await inspectIntegration(call.em, services, before, true);
      await call.write(async (change) => {
        const row = await mcpIntegrationAccess.findOwn(change.tx, call, name, 'for update');
        if (found.error === null) await storeSync(change, row, found.info, found.capabilities);
        else storeFailedSync(change, row, found.error);
      });
      services.wakeJobs();
      const sync_status = found.error === null ? 'success' : 'failed';
      return { success: found.error === null, sync_status, sync_error: found.error, total: found.capabilities.length };
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: `${item}/test`,
    runsAgain: true,
    summary: 'Call the server of an MCP integration once',
    scopes: scopes('update'),
    action: 'test',
    reply: testReply,
    async handle(call) {
      const row = await mcpIntegrationAccess.findOwn(call.em, call, call.params.mcpIntegrationId ?? '');
      mcpIntegrationAccess.requireOwner(call.actor, row.workspaceId, 'update');
      checkHost(call.services.settings, row.url, 'url', true);
      return toTestReply(await inspectIntegration(call.em, call.services, row, false), row.url);
    },
  }),
];

import type { EntityManager } from '../../db/open-database.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { mcpIntegrations } from '../mcp-integrations/entity.ts';
import { mcpIntegrationAccess } from '../mcp-integrations/service.ts';
import type { McpServer } from '../mcp-servers/entity.ts';
import type { McpVirtualServer } from '../mcp-virtual-servers/entity.ts';
import { workspaces } from '../workspaces/entity.ts';
import { listPublished } from './list-published.ts';
import { registryQuery, registryReply } from './schema.ts';

const serverSchema = 'https://static.modelcontextprotocol.io/schemas/2025-10-17/server.schema.json';
/** Maximum length of a description in the registry. */
const descriptionMax = 100;

/** The registry of MCP servers. Gateways also serve it as `/v0.1/servers`, where clients expect it. */
export const mcpRegistryRoutes: readonly AdminRoute[] = [
  defineRoute({
    tenant: 'either',
    method: 'GET',
    path: '/mcp-registry/servers',
    summary: 'List the MCP servers that the caller can use, in the form of the MCP registry. Also served as `/v0.1/servers`',
    resource: 'mcp_servers',
    scopes: ['mcp.invoke', 'mcp_servers.list'],
    action: 'list-registry',
    query: registryQuery,
    body: null,
    reply: registryReply,
    async handle({ em, actor, organisationId, workspaceId, query, services }) {
      const { limit, cursor, search, updated_since: updatedSince } = query;
      const tenant = { organisationId, workspaceId, userId: actor.userId, seesAll: actor.workspaceId === null };
      const found = await listPublished(em, { ...tenant, search, updatedSince, after: cursor ?? null }, limit + 1);
      const page = found.slice(0, limit);
      const servers = await entriesOf(em, page, services.settings.mcpPublicUrl);
      const last = found.length > limit ? page.at(-1) : undefined;
      return { servers, metadata: { count: servers.length, ...(last === undefined ? {} : { nextCursor: last.id }) } };
    },
  }),
];

/** The entries of servers whose integration their workspace may still use. */
async function entriesOf(em: EntityManager, page: readonly (McpServer | McpVirtualServer)[], mcpPublicUrl: string) {
  const [first] = page;
  if (!first) return [];
  const { organisationId } = first;
  const ids = [...new Set(page.map((row) => row.workspaceId))];
  const spaces = new Map((await em.find(workspaces, { organisationId, id: { $in: ids } })).map((one) => [one.id, one]));
  const sourceIds = page.flatMap((row) => ('integrationId' in row ? [row.integrationId] : []));
  const sources = new Map(
    (await em.find(mcpIntegrations, { organisationId, id: { $in: sourceIds } })).map((one) => [one.id, one]),
  );
  const entries = [];
  for (const row of page) {
    const source = 'integrationId' in row ? sources.get(row.integrationId) : null;
    if (source === undefined || (source && !(await mcpIntegrationAccess.mayUse(em, source, row.workspaceId)))) continue;
    const { version, website_url: websiteUrl } = source?.serverInfo ?? {};
    const slug = spaces.get(row.workspaceId)?.slug ?? row.workspaceId;
    const server = {
      $schema: serverSchema,
      name: `${new URL(mcpPublicUrl).hostname.split('.').reverse().join('.')}/${slug}.${row.slug}`,
      title: row.name,
      description: (row.description || row.name).slice(0, descriptionMax),
      version: typeof version === 'string' ? version : '1.0.0',
      ...(typeof websiteUrl === 'string' ? { websiteUrl } : {}),
      remotes: [{ type: 'streamable-http', url: `${mcpPublicUrl}/${slug}/${row.slug}/mcp` }],
    };
    const times = { publishedAt: row.createdAt.toISOString(), updatedAt: row.lastUpdatedAt.toISOString() };
    entries.push({
      server,
      _meta: { 'io.modelcontextprotocol.registry/official': { status: 'active', ...times, isLatest: true } },
    });
  }
  return entries;
}

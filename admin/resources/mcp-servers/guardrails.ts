import { isDeepStrictEqual } from 'node:util';
import { nearestName } from '../../../config/did-you-mean.ts';
import { cannotRunOn } from '../../../core/contract/plugin/guardrails/guardrail-config.ts';
import { announceMcpServer } from '../../announce/mcp-servers.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { invalid, unknownReference } from '../../http/errors.ts';
import { itemOf } from '../../http/filters/find-item.ts';
import type { Change } from '../../publish/write-change.ts';
import { type Guardrail, guardrailVersions } from '../guardrails/entity.ts';
import { mappingsOf } from '../guardrails/service.ts';
import { mcpCapabilities } from '../mcp-integrations/entity.ts';
import { type McpServer, type McpServerGuardrail, mcpServerGuardrails, mcpServers } from './entity.ts';
import type { SentMapping } from './guardrail-schema.ts';

type Mapped = Pick<McpServerGuardrail, 'runOn' | 'capabilities'>;

/** Replaces the servers of a guardrail. Throws AB02 for an unknown server or tool, AB01 for a side that its checks do not have. */
export async function replaceMappings(
  change: Change,
  guardrail: Guardrail,
  workspaceId: string | null,
  sent: Readonly<Record<string, SentMapping>>,
): Promise<{ changed: boolean; added: number; updated: number; removed: number }> {
  const before = new Map((await mappingsOf({ em: change.tx, workspaceId }, guardrail)).map((row) => [row.serverId, row]));
  const counts = { added: 0, updated: 0, removed: 0 };
  const named = new Set<string>();
  for (const [name, one] of Object.entries(sent)) {
    const path = `mcp_servers.${name}`;
    const server = await findServer(change.tx, guardrail, workspaceId, name, path);
    if (named.has(server.id)) throw invalid(`${path}: names the same server as another member`);
    named.add(server.id);
    const done = await put(change, guardrail, server, one, path, before.get(server.id));
    if (done.effect !== null) counts[done.effect] += 1;
    before.delete(server.id);
  }
  for (const row of before.values()) {
    change.tx.remove(row);
    announceMcpServer(change, await change.tx.findOneOrFail(mcpServers, { id: row.serverId }), 'upsert');
    counts.removed += 1;
  }
  change.about(guardrail);
  return { changed: counts.added + counts.updated + counts.removed > 0, ...counts };
}

/** Adds or changes one server of a guardrail, by id or slug. Returns the id of the mapping. Throws as `replaceMappings` does. */
export async function putMapping(
  change: Change,
  guardrail: Guardrail,
  workspaceId: string | null,
  name: string,
  sent: SentMapping,
): Promise<string> {
  const server = await findServer(change.tx, guardrail, workspaceId, name, 'mcpServerId');
  const own = { organisationId: guardrail.organisationId, guardrailId: guardrail.id, serverId: server.id };
  const known = await change.tx.findOne(mcpServerGuardrails, own);
  change.about(guardrail);
  return (await put(change, guardrail, server, sent, 'mcpServerId', known ?? undefined)).id;
}

async function put(
  change: Change,
  guardrail: Guardrail,
  server: McpServer,
  sent: SentMapping,
  path: string,
  known: McpServerGuardrail | undefined,
): Promise<{ id: string; effect: 'added' | 'updated' | null }> {
  const { tx } = change;
  const runOn = [...new Set(sent.run_on)].sort();
  await requireSides(tx, guardrail, runOn, path);
  const mapped: Mapped = { runOn, capabilities: await toolsOf(tx, server, sent.mcp_integration_capability_ids, path) };
  if (known && isDeepStrictEqual({ runOn: known.runOn, capabilities: known.capabilities }, mapped)) {
    return { id: known.id, effect: null };
  }
  announceMcpServer(change, server, 'upsert');
  const lastUpdatedAt = new Date();
  if (known) {
    Object.assign(known, mapped, { lastUpdatedAt });
    return { id: known.id, effect: 'updated' };
  }
  const id = newId();
  const { organisationId, workspaceId: ofServer } = server;
  const owner = { organisationId, workspaceId: ofServer, serverId: server.id, guardrailId: guardrail.id };
  tx.create(mcpServerGuardrails, { id, ...owner, ...mapped, lastUpdatedAt });
  return { id, effect: 'added' };
}

async function findServer(
  em: EntityManager,
  { organisationId, workspaceId: ofGuardrail }: Guardrail,
  workspaceId: string | null,
  name: string,
  path: string,
): Promise<McpServer> {
  const tenant = { organisationId, workspaceId: workspaceId ?? ofGuardrail ?? null };
  const [found, other] = await em.find(mcpServers, { ...itemOf(tenant, name), status: 'active' });
  if (other) throw invalid(`${path}: several workspaces have a server of this name. Send its id`);
  if (found) return found;
  const near = {
    organisationId,
    status: 'active' as const,
    ...(tenant.workspaceId === null ? {} : { workspaceId: tenant.workspaceId }),
  };
  const known = await em.find(mcpServers, near, { limit: 1_000 });
  throw unknownReference(
    path,
    'MCP server',
    nearestName(
      name,
      known.map(({ slug }) => slug),
    ),
  );
}

async function requireSides(em: EntityManager, guardrail: Guardrail, runOn: Mapped['runOn'], path: string): Promise<void> {
  const { slug, versionId, organisationId, target } = guardrail;
  if (target !== 'mcp_tools') throw invalid(`${path}: the guardrail ${slug} has the target llm. Create one with mcp_tools`);
  const { sides } = await em.findOneOrFail(guardrailVersions, { organisationId, id: versionId });
  const lost = runOn.find((side) => !sides.includes(side));
  if (lost) throw invalid(`${path}.run_on: ${cannotRunOn(slug, lost)}`);
}

/** The tools of these ids with their names, which stay valid if the server is synchronised again. */
async function toolsOf(
  em: EntityManager,
  { organisationId, integrationId }: McpServer,
  ids: readonly string[],
  path: string,
): Promise<Mapped['capabilities']> {
  if (ids.length === 0) return [];
  const rows = await em.find(mcpCapabilities, { organisationId, integrationId, type: 'tool', id: { $in: [...ids] } });
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  return [...new Set(ids)].sort().map((id) => {
    const name = names.get(id);
    if (name === undefined) throw unknownReference(`${path}.mcp_integration_capability_ids`, `Tool ${id}`);
    return { id, name };
  });
}

export function toMapping(row: McpServerGuardrail) {
  return {
    id: row.id,
    guardrail_id: row.guardrailId,
    mcp_server_id: row.serverId,
    run_on: row.runOn,
    capability_ids: row.capabilities.map(({ id }) => id),
    last_updated_at: row.lastUpdatedAt.toISOString(),
  };
}

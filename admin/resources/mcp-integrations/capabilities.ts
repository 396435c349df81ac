import type { McpServerInfo, SyncedCapability } from '../../../core/contract/protocol/mcp/mcp-sync.ts';
import { toolHash } from '../../../core/contract/protocol/mcp/tool-pins.ts';
import { isStorable } from '../../../core/contract/values/json/storable-json.ts';
import { announceMcpServers } from '../../announce/mcp-servers.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Change } from '../../publish/write-change.ts';
import type { SentCapability, SentFlags } from './capability-schema.ts';
import { type McpCapability, type McpIntegration, mcpCapabilities } from './entity.ts';
import { addQuarantineEvents } from './quarantine-events.ts';

/** All capabilities of an integration, by type and name. */
export function listCapabilities(
  em: EntityManager,
  row: Pick<McpIntegration, 'id' | 'organisationId'>,
): Promise<McpCapability[]> {
  const where = { organisationId: row.organisationId, integrationId: row.id };
  return em.find(mcpCapabilities, where, { orderBy: { type: 'desc', name: 'asc' } });
}

/**
 * Returns the flags with the names that gateways check. Resources and templates may be named as lists show them: gateways know them by URI
 * only, so a flag under another name would change nothing.
 */
export function flagsByKey(all: readonly McpCapability[], sent: SentFlags): SentFlags {
  return sent.flatMap((flag) => {
    const same = all.filter((one) => one.type === flag.type && one.definition !== null);
    if (same.some(({ name }) => name === flag.name)) return [flag];
    const shown = same.filter(({ definition }) => definition?.name === flag.name);
    return shown.length === 0 ? [flag] : shown.map(({ name }) => ({ ...flag, name }));
  });
}

/** Enables and disables capabilities by name. A name that the server has not listed is stored too, so that it can be disabled in advance. */
export async function setFlags(change: Change, row: McpIntegration, sent: SentFlags): Promise<void> {
  const all = await listCapabilities(change.tx, row);
  const known = new Map(all.map((one) => [keyOf(one), one]));
  const now = new Date();
  for (const { name, type, enabled } of flagsByKey(all, sent)) {
    const found = known.get(keyOf({ name, type }));
    if (found) {
      found.enabled = enabled;
      found.lastUpdatedAt = now;
    } else {
      const fields = { id: newId(), organisationId: row.organisationId, integrationId: row.id, type, name, enabled };
      const made = change.tx.create(mcpCapabilities, { ...fields, ...undefinedTool, createdAt: now, lastUpdatedAt: now });
      known.set(keyOf(made), made);
    }
  }
  change.about(row);
  await announceMcpServers(change, row.id, 'upsert');
}

const undefinedTool = { definition: null, approvedDefinition: null, approvedAt: null, approvedBy: null };

/** Members of definitions by the names that lists of capabilities show. */
const spellings = {
  input_schema: 'inputSchema',
  output_schema: 'outputSchema',
  mime_type: 'mimeType',
  uri_template: 'uriTemplate',
} as const;

/** A capability that a caller sends, with the members of MCP or those of lists. Resources and templates are known by their URI. */
export function toSynced({ type, ...sent }: SentCapability): SyncedCapability {
  const entries = Object.entries(sent).map(([name, value]) => [spellings[name as keyof typeof spellings] ?? name, value]);
  const definition: Record<string, unknown> = Object.fromEntries(entries);
  const uri = { tool: null, prompt: null, resource: definition.uri, resource_template: definition.uriTemplate }[type];
  return { type, name: typeof uri === 'string' && uri !== '' ? uri : sent.name, definition };
}

/**
 * Stores the capabilities that the server listed. New capabilities are enabled. Capabilities that the server no longer lists are removed
 * unless they are disabled or approved: a capability that returns is as before.
 */
export async function storeSync(
  change: Change,
  row: McpIntegration,
  info: McpServerInfo | null,
  listed: readonly SyncedCapability[],
): Promise<void> {
  const { tx } = change;
  const gone = await storeListed(change, row, listed);
  for (const one of gone) {
    if (one.enabled && !one.approvedDefinition) tx.remove(one);
    else one.definition = null;
  }
  if (info !== null) row.serverInfo = info;
  row.syncStatus = 'success';
  row.syncError = null;
  row.lastSyncedAt = new Date();
  change.about(row);
}

/** Stores definitions, and reports tools that are quarantined now. Returns the known capabilities that are not among them. */
export async function storeListed(
  change: Change,
  row: McpIntegration,
  listed: readonly SyncedCapability[],
): Promise<McpCapability[]> {
  const { tx } = change;
  const gone = new Map((await listCapabilities(tx, row)).map((one) => [keyOf(one), one]));
  const changed: McpCapability[] = [];
  const now = new Date();
  const seen = new Set<string>();
  for (const { type, name, definition } of listed.filter(isStorable)) {
    const key = keyOf({ type, name });
    // The first of two with the same name counts.
    if (seen.has(key)) continue;
    seen.add(key);
    const found = gone.get(key);
    gone.delete(key);
    if (!found) {
      const fields = { id: newId(), organisationId: row.organisationId, integrationId: row.id, type, name, enabled: true };
      changed.push(tx.create(mcpCapabilities, { ...fields, ...undefinedTool, definition, createdAt: now, lastUpdatedAt: now }));
      continue;
    }
    if (type === 'tool' && (!found.definition || toolHash(found.definition) !== toolHash(definition))) changed.push(found);
    found.definition = definition;
    found.lastUpdatedAt = now;
  }
  await addQuarantineEvents(
    change,
    row,
    changed.filter(({ type }) => type === 'tool'),
  );
  return [...gone.values()];
}

/** Records that the server could not be reached. Stored capabilities stay unchanged. */
export function storeFailedSync(change: Change, row: McpIntegration, error: string): void {
  row.syncStatus = 'failed';
  row.syncError = error.slice(0, 1_000);
  row.lastSyncedAt = new Date();
  change.about(row);
}

/** Identifies a capability of one server. */
export function keyOf({ type, name }: Pick<McpCapability, 'type' | 'name'>): string {
  return `${type} ${name}`;
}

import { announceMcpServer } from '../../announce/mcp-servers.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Change } from '../../publish/write-change.ts';
import { flagsByKey, keyOf, listCapabilities } from '../mcp-integrations/capabilities.ts';
import type { SentFlags } from '../mcp-integrations/capability-schema.ts';
import type { FlaggedCapability } from '../mcp-integrations/to-capability-page.ts';
import { type McpServer, mcpServerCapabilities } from './entity.ts';

/** The capabilities of a server: those of its integration, with both flags. */
export async function listServerCapabilities(em: EntityManager, row: McpServer): Promise<FlaggedCapability[]> {
  const { organisationId, integrationId, id: serverId } = row;
  const all = await listCapabilities(em, { id: integrationId, organisationId });
  const own = await em.find(mcpServerCapabilities, { organisationId, serverId });
  const flags = new Map(own.map((one) => [keyOf(one), one.enabled]));
  return all.map((one) => ({
    row: one,
    enabled: flags.get(keyOf(one)) ?? true,
    integrationEnabled: one.enabled,
  }));
}

/** Enables and disables capabilities of one server. A capability that the integration disables stays disabled. */
export async function setServerFlags(change: Change, row: McpServer, sent: SentFlags): Promise<void> {
  const { organisationId, workspaceId, integrationId, id: serverId } = row;
  const all = await listCapabilities(change.tx, { id: integrationId, organisationId });
  const rows = await change.tx.find(mcpServerCapabilities, { organisationId, serverId });
  const known = new Map(rows.map((one) => [keyOf(one), one]));
  const now = new Date();
  for (const { type, name, enabled } of flagsByKey(all, sent)) {
    const found = known.get(keyOf({ type, name }));
    if (found) {
      found.enabled = enabled;
      found.lastUpdatedAt = now;
    } else {
      const fields = { id: newId(), organisationId, workspaceId, serverId, type, name, enabled, lastUpdatedAt: now };
      known.set(keyOf(fields), change.tx.create(mcpServerCapabilities, fields));
    }
  }
  change.about(row);
  announceMcpServer(change, row, 'upsert');
}

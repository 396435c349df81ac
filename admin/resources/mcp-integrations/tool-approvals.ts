import { hash } from 'node:crypto';
import { toolHash } from '../../../core/contract/protocol/mcp/tool-pins.ts';
import { announceMcpServers } from '../../announce/mcp-servers.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { conflict, invalid } from '../../http/errors.ts';
import type { Change } from '../../publish/write-change.ts';
import type { SentApprovals } from './approval-schema.ts';
import { type McpCapability, type McpIntegration, mcpCapabilities } from './entity.ts';

type Owner = Pick<McpIntegration, 'id' | 'organisationId'>;
type Definitions = Pick<McpCapability, 'definition' | 'approvedDefinition'>;

/** `missing`: the server no longer lists an approved tool. */
export type ToolStatus = 'approved' | 'new' | 'changed' | 'missing';

/** The tools of an integration that have a definition, by name. */
export async function listTools(em: EntityManager, { id, organisationId }: Owner): Promise<McpCapability[]> {
  const where = { organisationId, integrationId: id, type: 'tool' } as const;
  const rows = await em.find(mcpCapabilities, where, { orderBy: { name: 'asc' } });
  return rows.filter((row) => row.definition || row.approvedDefinition);
}

/** Compares the definition that the server lists with the approved one. `missing`: approved, and no longer listed. */
export function statusOf({ definition, approvedDefinition }: Definitions): ToolStatus {
  if (!approvedDefinition) return 'new';
  if (!definition) return 'missing';
  return toolHash(definition) === toolHash(approvedDefinition) ? 'approved' : 'changed';
}

/** True for tools that gateways hide and refuse. */
export function isQuarantined(row: Definitions): boolean {
  const status = statusOf(row);
  return status === 'new' || status === 'changed';
}

/** The hash of the set of tools that the server lists: it changes with every tool that is added, removed or changed. */
export function toolSetHash(rows: readonly McpCapability[]): string {
  const hashes = rows.flatMap(({ definition }) => (definition ? [toolHash(definition)] : [])).sort();
  return hash('sha256', hashes.join(), 'base64url');
}

/** The approved hashes by name, as gateways need them. */
export async function pinsOf(em: EntityManager, row: Owner): Promise<Record<string, string>> {
  const rows = await listTools(em, row);
  return Object.fromEntries(
    rows.flatMap(({ name, approvedDefinition }) => (approvedDefinition ? [[name, toolHash(approvedDefinition)]] : [])),
  );
}

/**
 * Approves definitions, or withdraws approvals. The sender states the hashes of what was displayed, so that a definition that has changed
 * since then is not approved. Throws AB01 for an unknown tool, and a conflict for another hash.
 */
export async function approveTools(change: Change, row: McpIntegration, actor: Actor, sent: SentApprovals): Promise<void> {
  if ((sent.tools === undefined) === (sent.tool_set_hash === undefined)) {
    throw invalid('tool_set_hash: either tools or tool_set_hash is expected');
  }
  const rows = await listTools(change.tx, row);
  for (const { tool, approve } of sent.tools ? named(rows, sent.tools) : wholeSet(rows, sent.tool_set_hash)) {
    tool.approvedDefinition = approve ? (tool.definition ?? null) : null;
    tool.approvedAt = approve ? new Date() : null;
    tool.approvedBy = approve ? (actor.userId ?? actor.keyId) : null;
  }
  change.about(row);
  await announceMcpServers(change, row.id, 'upsert');
}

interface Decision {
  readonly tool: McpCapability;
  readonly approve: boolean;
}

function named(rows: readonly McpCapability[], tools: NonNullable<SentApprovals['tools']>): Decision[] {
  return tools.map(({ name, hash: displayed }, index) => {
    const tool = rows.find((one) => one.name === name);
    if (!tool)
      throw invalid(`tools[${index}].name: the server of this integration has listed no such tool. Synchronise it first`);
    if (displayed !== null && (!tool.definition || toolHash(tool.definition) !== displayed)) {
      throw conflict(`tools[${index}].hash: the tool has changed since it was displayed. Read it again`);
    }
    return { tool, approve: displayed !== null };
  });
}

/** All tools that the server lists. Approvals of missing tools end. */
function wholeSet(rows: readonly McpCapability[], displayed: string | undefined): Decision[] {
  if (displayed !== toolSetHash(rows)) {
    throw conflict('tool_set_hash: the tools have changed since they were displayed. Read them again');
  }
  return rows.map((tool) => ({ tool, approve: tool.definition !== null && tool.definition !== undefined }));
}

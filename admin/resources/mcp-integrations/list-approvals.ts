import type * as v from 'valibot';
import { toolHash } from '../../../core/contract/protocol/mcp/tool-pins.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { approvalQuery } from './approval-schema.ts';
import { type McpCapability, type McpIntegration, mcpCapabilities, mcpIntegrations } from './entity.ts';
import { listTools, statusOf, type ToolStatus, toolSetHash } from './tool-approvals.ts';
import { changesBetween } from './tool-changes.ts';
import { comparable, findSuspicious, type ToolFinding } from './tool-findings.ts';

/** Returns one page of the tools of an integration, with their approvals. */
export async function listApprovals(em: EntityManager, row: McpIntegration, query: v.InferOutput<typeof approvalQuery>) {
  const { page, page_size: size, status } = query;
  const rows = await listTools(em, row);
  const counts: Record<ToolStatus, number> = { approved: 0, new: 0, changed: 0, missing: 0 };
  for (const one of rows) counts[statusOf(one)] += 1;
  const matching = status === undefined ? rows : rows.filter((one) => statusOf(one) === status);
  const shadowed = await namesElsewhere(em, row);
  return {
    object: 'list',
    data: matching.slice((page - 1) * size, page * size).map((one) => toReply(one, shadowed)),
    pinned: row.configurations.tools?.pinned ?? false,
    counts,
    tool_set_hash: toolSetHash(rows),
    total: matching.length,
    has_more: page * size < matching.length,
  };
}

function toReply(row: McpCapability, shadowed: ReadonlyMap<string, string>) {
  const { name, definition, approvedDefinition } = row;
  const other = shadowed.get(comparable(name));
  const shadowing: ToolFinding[] =
    other === undefined
      ? []
      : [{ type: 'shadowing', path: '/name', text: `the MCP integration ${other} has a tool of this name` }];
  return {
    name,
    status: statusOf(row),
    hash: definition ? toolHash(definition) : null,
    approved_at: row.approvedAt?.toISOString() ?? null,
    approved_by: row.approvedBy ?? null,
    definition: definition ?? null,
    approved_definition: approvedDefinition ?? null,
    changes: definition && approvedDefinition ? changesBetween(approvedDefinition, definition) : [],
    findings: [...shadowing, ...findSuspicious(definition ?? {})],
  };
}

/** Names of tools of other integrations that the same workspaces may use, with the slug of their integration. */
async function namesElsewhere(em: EntityManager, row: McpIntegration): Promise<Map<string, string>> {
  const { organisationId, workspaceId, id } = row;
  const near = workspaceId ? { $or: [{ workspaceId }, { workspaceId: null }] } : {};
  const others = await em.find(mcpIntegrations, { organisationId, id: { $ne: id }, status: 'active', ...near });
  const slugs = new Map(others.map((one) => [one.id, one.slug]));
  const where = { organisationId, type: 'tool', integrationId: { $in: [...slugs.keys()] } } as const;
  const tools = await em.find(mcpCapabilities, where, { fields: ['name', 'integrationId'] });
  return new Map(tools.map((one) => [comparable(one.name), slugs.get(one.integrationId) as string]));
}

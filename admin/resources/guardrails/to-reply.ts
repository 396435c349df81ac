import type { McpServerGuardrail } from '../mcp-servers/entity.ts';
import type { Guardrail, GuardrailVersion } from './entity.ts';

/** A guardrail as lists show it. */
export function toRow(row: Guardrail) {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId ?? null,
    target: row.target,
    status: row.status,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    owner_id: row.ownerId,
    updated_by: row.updatedBy ?? null,
  };
}

/** The reply to a change. */
export function toReceipt({ id, versionId, slug }: Guardrail) {
  return { id, version_id: versionId, slug, object: 'guardrail' };
}

/** A guardrail with the content of one version, and the MCP servers that it runs on. */
export function toDetail(row: Guardrail, { id, checks, actions }: GuardrailVersion, mappings: readonly McpServerGuardrail[]) {
  const shown = { version_id: id, checks, actions: actions.sent ?? actions };
  return { ...toRow(row), ...shown, mcp_server_mappings: mappings.map(toMapping), object: 'guardrail' };
}

/** The same, with the author and time of the version. */
export function toVersion(row: Guardrail, version: GuardrailVersion, mappings: readonly McpServerGuardrail[]) {
  const versionFields = { version_created_at: version.createdAt.toISOString(), version_owner_id: version.ownerId };
  return { ...toDetail(row, version, mappings), ...versionFields };
}

function toMapping({ id, guardrailId, serverId, runOn, capabilities }: McpServerGuardrail) {
  const ids = capabilities.map((one) => one.id);
  return { id, guardrail_id: guardrailId, mcp_server_id: serverId, run_on: runOn, capability_ids: ids };
}

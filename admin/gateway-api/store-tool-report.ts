import type { ToolReport } from '../../core/contract/protocol/mcp/tool-pins.ts';
import type { AuditDraft } from '../audit/audit-entry.ts';
import type { AdminServices } from '../http/admin-services.ts';
import { writeChange } from '../publish/write-change.ts';
import { storeListed } from '../resources/mcp-integrations/capabilities.ts';
import { mcpIntegrations } from '../resources/mcp-integrations/entity.ts';

type Needed = Pick<AdminServices, 'database' | 'auditKey' | 'wakeJobs'>;

/**
 * Stores the definitions of quarantined tools that a gateway has seen, so that administrators can compare and approve them. Tools that
 * are missing in the report are unchanged. Reports of unknown integrations are ignored.
 */
export async function storeToolReport({ database, auditKey, wakeJobs }: Needed, report: ToolReport): Promise<void> {
  const { organisationId, integrationId, tools } = report;
  const where = { id: integrationId, organisationId, status: 'active' } as const;
  const em = database.emOf(organisationId);
  const found = await em.findOne(mcpIntegrations, where);
  if (!found) return;
  const draft = draftOf(report, found.workspaceId ?? null);
  await writeChange(em, auditKey, draft, null, async (change) => {
    const row = await change.tx.findOneOrFail(mcpIntegrations, where);
    await storeListed(
      change,
      row,
      tools.map((definition) => ({ type: 'tool', name: definition.name, definition })),
    );
    change.about(row);
  });
  wakeJobs();
}

function draftOf({ organisationId, integrationId, tools }: ToolReport, workspaceId: string | null): AuditDraft {
  return {
    organisationId,
    workspaceId,
    method: 'POST',
    uri: `/v1/mcp-integrations/${integrationId}/tool-approvals`,
    requestId: '',
    requestBody: { tools: tools.slice(0, 100).map(({ name }) => name), total: tools.length },
    queryParams: {},
    userId: null,
    userType: 'system',
    resourceType: 'mcp_integrations',
    action: 'quarantine-tools',
    clientIp: '',
  };
}

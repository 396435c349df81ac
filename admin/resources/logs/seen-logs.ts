import { forbidden } from '../../http/errors.ts';
import { type Condition, compileFilters, type LogFilters } from './filters.ts';
import type { LogVisibility } from './log-visibility.ts';

interface Tenant {
  readonly organisationId: string;
  /** Null: all workspaces. */
  readonly workspaceId: string | null;
}

/** Conditions for the records of the tenant that the caller may see. */
export function seenLogs({ organisationId, workspaceId }: Tenant, sight: LogVisibility): Condition[] {
  const conditions: Condition[] = [{ text: 'r.organisation_id = ?', values: [organisationId] }];
  if (workspaceId !== null) conditions.push({ text: 'r.workspace_id = ?', values: [workspaceId] });
  const hidden = sight.hiddenWorkspaces;
  if (hidden.length > 0) {
    conditions.push({ text: `r.workspace_id not in (${hidden.map(() => '?').join(', ')})`, values: hidden });
  }
  if (sight.ofUser !== null) conditions.push({ text: "r.record->>'userId' = ?", values: [sight.ofUser] });
  return conditions;
}

/**
 * Conditions for the records that match the filters and that the caller may see. Throws AB03 for a filter by metadata that the
 * caller must not see, and AB01 for contradictory filters.
 */
export function matchingLogs(tenant: Tenant, sight: LogVisibility, filters: LogFilters): Condition[] {
  if (filters.metadata && !sight.metadata) throw forbidden('metadata: your role does not allow reading metadata of requests');
  return [...seenLogs(tenant, sight), ...compileFilters(filters, tenant.organisationId)];
}

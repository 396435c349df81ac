import { type Condition, compileFilters } from './filters.ts';
import type { LogQuery } from './seen-logs.ts';

/** Returns the conditions of a query in the SQL of PostgreSQL, for the alias `r` of `request_records`. */
export function logConditions({
  organisationId,
  workspaceId,
  hiddenWorkspaces,
  ofUser,
  filters,
  id,
  until,
}: LogQuery): Condition[] {
  const conditions: Condition[] = [{ text: 'r.organisation_id = ?', values: [organisationId] }];
  if (workspaceId !== null) conditions.push({ text: 'r.workspace_id = ?', values: [workspaceId] });
  if (hiddenWorkspaces.length > 0) {
    conditions.push({
      text: `r.workspace_id not in (${hiddenWorkspaces.map(() => '?').join(', ')})`,
      values: hiddenWorkspaces,
    });
  }
  if (ofUser !== null) conditions.push({ text: "r.record->>'userId' = ?", values: [ofUser] });
  if (id !== undefined) conditions.push({ text: 'r.id = ?', values: [id] });
  if (until !== undefined) conditions.push({ text: 'r.created_at <= ?', values: [until] });
  return [...conditions, ...compileFilters(filters, organisationId)];
}

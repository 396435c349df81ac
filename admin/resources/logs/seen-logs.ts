import type { Tenant } from '../../db/tenant.ts';
import { forbidden } from '../../http/errors.ts';
import { boundsIn, type LogFilters } from './filters.ts';
import type { LogVisibility } from './log-visibility.ts';

/** Selects records of one organisation. */
export interface LogQuery extends Tenant {
  /** Workspaces whose records are left out. */
  readonly hiddenWorkspaces: readonly string[];
  /** User whose keys' requests are selected; null: all users. */
  readonly ofUser: string | null;
  readonly filters: LogFilters;
  /** Id of the only record to select. */
  readonly id?: string;
  /** Selects only records up to this time. */
  readonly until?: Date;
}

/** Selects the records of the tenant that the caller may see. */
export function seenLogs(
  { organisationId, workspaceId }: Tenant,
  { ofUser, hiddenWorkspaces }: LogVisibility,
  filters: LogFilters = {},
): LogQuery {
  return { organisationId, workspaceId, hiddenWorkspaces, ofUser, filters };
}

/**
 * Selects the records that match the filters and that the caller may see. Throws AB03 for a filter by metadata that the caller must not
 * see, and AB01 for contradictory filters.
 */
export function matchingLogs(tenant: Tenant, sight: LogVisibility, filters: LogFilters): LogQuery {
  if (filters.metadata && !sight.metadata) throw forbidden('metadata: your role does not allow reading metadata of requests');
  boundsIn(filters);
  return seenLogs(tenant, sight, filters);
}

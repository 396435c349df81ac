import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import type { Clock } from '../../../core/contract/values/time/clock.ts';
import { usableRows } from '../../access/workspace-sharing.ts';
import { findPage } from '../../db/find-page.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { searchIn } from '../../http/filters/search-in.ts';
import { withTags } from '../../http/filters/with-tags.ts';
import { type Page, pageOf } from '../../http/request/schemas.ts';
import { readUsageOf } from '../../leases/read-usage.ts';
import type { BudgetUsage } from '../../limits/schema.ts';
import { type Integration, integrations, integrationWorkspaces } from '../integrations/entity.ts';
import type { Mapping } from '../integrations/secret-mappings/mapping-table.ts';
import { mappingsOfAll } from '../integrations/secret-mappings/secret-mappings.ts';
import { lastUsedAt } from '../logs/last-used.ts';
import { workspaces } from '../workspaces/entity.ts';
import { type Provider, providers } from './entity.ts';

interface ListCall {
  readonly organisationId: string;
  readonly workspaceId: string | null;
  readonly em: EntityManager;
  readonly query: Page & {
    readonly return_last_used?: string | undefined;
    readonly include_usage?: string | undefined;
    readonly search?: string | undefined;
    readonly tags?: JsonObject | undefined;
  };
  readonly services: { readonly clock: Clock };
}

/** Members that lists add to each row, by which clients choose among the providers of several workspaces. */
interface ListFields {
  readonly organisation_id: string;
  readonly workspace_name: string | null;
  readonly provider: string | null;
  readonly last_used_at?: string | null;
}

/**
 * Returns a page of the tenant's providers, newest first, each converted by `show`. `return_last_used` adds the time of the last
 * served request, `include_usage` the budget usage. `tags` selects those that have these tags.
 */
export async function listProviders<Shown extends object>(
  { organisationId, workspaceId, em, query, services }: ListCall,
  show: (
    row: Provider,
    integration: Integration | null,
    isUsable: boolean,
    usage?: ReadonlyMap<string, BudgetUsage>,
    mapped?: readonly Mapping[],
  ) => Shown,
): Promise<{ object: 'list'; total: number; data: (Shown & ListFields)[] }> {
  const where = {
    $and: [
      { organisationId, ...(workspaceId ? { workspaceId } : {}) },
      withTags(query.tags),
      searchIn(query.search, 'name', 'slug'),
    ],
  };
  const page = { ...pageOf(query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
  const [rows, total] = await findPage(em, providers, where, page);
  const behind = await em.find(integrations, { organisationId, id: { $in: rows.map((row) => row.integrationId) } });
  const byId = new Map(behind.map((row) => [row.id, row]));
  const homes = await em.find(workspaces, { organisationId, id: { $in: rows.map((row) => row.workspaceId) } });
  const names = new Map(homes.map(({ id, name }) => [id, name]));
  const usable = await usableRows(em, integrationWorkspaces, rows, byId);
  const mapped = await mappingsOfAll(em, organisationId, behind);
  const used = query.return_last_used === 'true' ? await lastUsedAt(em, 'providers', organisationId, rows) : null;
  const usage = query.include_usage === 'true' ? await readUsageOf(em, organisationId, rows, services.clock.now()) : undefined;
  const data = rows.map((row) => ({
    ...show(row, byId.get(row.integrationId) ?? null, usable.has(row.id), usage, mapped.get(row.integrationId)),
    organisation_id: row.organisationId,
    workspace_name: names.get(row.workspaceId) ?? null,
    provider: byId.get(row.integrationId)?.aiProviderId ?? null,
    ...(used && { last_used_at: used.get(row.id)?.toISOString() ?? null }),
  }));
  return { object: 'list', total, data };
}

import type { EntityManager } from '../../db/open-database.ts';
import { type Page, pageOf } from '../../http/schemas.ts';
import { type Integration, integrations } from '../integrations/entity.ts';
import { type Provider, providers } from './entity.ts';
import { lastUsedAt } from './last-used.ts';

interface ListCall {
  readonly organisationId: string;
  readonly workspaceId: string | null;
  readonly em: EntityManager;
  readonly query: Page & { readonly return_last_used?: string | undefined };
}

/** A page of the tenant's providers, newest first, each shown by `show`; with `return_last_used` also when it last served a request. */
export async function listProviders<Shown extends object>(
  { organisationId, workspaceId, em, query }: ListCall,
  show: (row: Provider, integration: Integration | null) => Shown,
): Promise<{ object: 'list'; total: number; data: (Shown & { last_used_at?: string | null })[] }> {
  const where = { organisationId, ...(workspaceId ? { workspaceId } : {}) };
  const page = { ...pageOf(query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
  const [rows, total] = await em.findAndCount(providers, where, page);
  const behind = await em.find(integrations, { organisationId, id: { $in: rows.map((row) => row.integrationId) } });
  const byId = new Map(behind.map((row) => [row.id, row]));
  const used = query.return_last_used === 'true' ? await lastUsedAt(em, organisationId, rows) : null;
  const data = rows.map((row) => ({
    ...show(row, byId.get(row.integrationId) ?? null),
    ...(used && { last_used_at: used.get(row.id)?.toISOString() ?? null }),
  }));
  return { object: 'list', total, data };
}

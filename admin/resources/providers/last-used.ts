import type { EntityManager } from '../../db/open-database.ts';
import type { Provider } from './entity.ts';

/** When each of these providers last served a request, by row id; those that never did are not in it. */
export async function lastUsedAt(
  em: EntityManager,
  organisationId: string,
  rows: readonly Provider[],
): Promise<ReadonlyMap<string, Date>> {
  if (rows.length === 0) return new Map();
  const found = await em.execute<{ id: string; used_at: Date | string | null }[]>(
    `select p.id, (
       select r.created_at from request_records r
       where r.workspace_id = p.workspace_id and r.provider_slug = p.slug and r.organisation_id = p.organisation_id
       order by r.created_at desc limit 1
     ) as used_at
     from providers p where p.organisation_id = ? and p.id in (${rows.map(() => '?').join(', ')})`,
    [organisationId, ...rows.map((row) => row.id)],
  );
  return new Map(found.flatMap((row) => (row.used_at === null ? [] : [[row.id, new Date(row.used_at)]])));
}

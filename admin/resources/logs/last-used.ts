import type { EntityManager } from '../../db/open-database.ts';

/** Tables that records refer to by slug, with the column that contains the slug. */
const columns = { configs: 'config_slug', providers: 'provider_slug' } as const;

/** Returns the time of the last request that used each of these rows, by row id. Unused rows are left out. */
export async function lastUsedAt(
  em: EntityManager,
  table: keyof typeof columns,
  organisationId: string,
  rows: readonly { readonly id: string }[],
): Promise<ReadonlyMap<string, Date>> {
  if (rows.length === 0) return new Map();
  const found = await em.execute<{ id: string; used_at: Date | string | null }[]>(
    `select o.id, (
       select r.created_at from request_records r
       where r.workspace_id = o.workspace_id and r.${columns[table]} = o.slug and r.organisation_id = o.organisation_id
       order by r.created_at desc limit 1
     ) as used_at
     from ${table} o where o.organisation_id = ? and o.id in (${rows.map(() => '?').join(', ')})`,
    [organisationId, ...rows.map((row) => row.id)],
  );
  return new Map(found.flatMap((row) => (row.used_at === null ? [] : [[row.id, new Date(row.used_at)]])));
}

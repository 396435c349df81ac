import type { EntityManager } from '../../db/open-database.ts';

/** Tables that records refer to by slug, with the slug in records. */
const slugs = { configs: 'r.config_slug', prompts: "r.record->>'promptSlug'", providers: 'r.provider_slug' } as const;

/** Returns the time of the last request of its workspace that used each of these rows, by row id. Unused rows are left out. */
export async function lastUsedAt(
  em: EntityManager,
  table: keyof typeof slugs,
  organisationId: string,
  rows: readonly { readonly id: string }[],
): Promise<ReadonlyMap<string, Date>> {
  if (rows.length === 0) return new Map();
  const found = await em.execute<{ id: string; used_at: Date | string | null }[]>(
    `select o.id, (
       select r.created_at from request_records r
       where r.workspace_id = o.workspace_id and ${slugs[table]} = o.slug and r.organisation_id = o.organisation_id
       order by r.created_at desc limit 1
     ) as used_at
     from ${table} o where o.organisation_id = ? and o.id in (${rows.map(() => '?').join(', ')})`,
    [organisationId, ...rows.map((row) => row.id)],
  );
  return new Map(found.flatMap((row) => (row.used_at === null ? [] : [[row.id, new Date(row.used_at)]])));
}

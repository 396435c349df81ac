import type { EntityManager } from '../../db/open-database.ts';

interface Sum {
  readonly entries: number;
  readonly bytes: number;
  readonly oldest_at: string | null;
  readonly newest_at: string | null;
}

/** Returns the number and size of the entries of a workspace that have not expired. */
export async function sumOf(em: EntityManager, workspaceId: string, nowMs: number): Promise<Sum> {
  type Row = { entries: string; bytes: string | null; oldest: Date | string | null; newest: Date | string | null };
  const [row] = await em.execute<Row[]>(
    `select count(*) as entries, sum(bytes) as bytes, min(created_at) as oldest, max(created_at) as newest
       from cached_replies where workspace_id = ? and expires_at > ?`,
    [workspaceId, new Date(nowMs)],
  );
  const iso = (at: Date | string | null | undefined) => (at ? new Date(at).toISOString() : null);
  return {
    entries: Number(row?.entries ?? 0),
    bytes: Number(row?.bytes ?? 0),
    oldest_at: iso(row?.oldest),
    newest_at: iso(row?.newest),
  };
}

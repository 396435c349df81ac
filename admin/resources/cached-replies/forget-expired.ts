import type { EntityManager } from '../../db/open-database.ts';

/** Rows per statement, because each statement has a time limit. */
const groupRows = 500;

/** Deletes entries that have expired. */
export async function forgetExpired(em: EntityManager, now: Date): Promise<void> {
  for (;;) {
    const gone = await em.execute<unknown[]>(
      `with expired as materialized (
         select workspace_id, digest from cached_replies where expires_at <= ? limit ?)
       delete from cached_replies c using expired e
         where c.workspace_id = e.workspace_id and c.digest = e.digest returning c.digest`,
      [now, groupRows],
    );
    if (gone.length < groupRows) return;
  }
}

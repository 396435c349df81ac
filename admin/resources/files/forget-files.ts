import { dayMs } from '../../../core/contract/values/time/durations.ts';
import type { EntityManager } from '../../db/open-database.ts';

const abandonedMs = dayMs;
/** Files per statement, because each statement has a time limit and a file may have many chunks. */
const groupFiles = 20;

/** Deletes expired files, and uploads started over a day ago that never ended because their process died. */
export async function forgetFiles(em: EntityManager, now: Date): Promise<void> {
  const abandoned = new Date(now.getTime() - abandonedMs);
  for (;;) {
    const gone = await em.execute<unknown[]>(
      // Materialized: PostgreSQL may run a subquery in the condition once per row, and would then delete more than one group.
      `with expired as materialized (select id from stored_files
         where expires_at <= ? or (status = 'uploading' and created_at <= ?) limit ?)
       delete from stored_files f using expired e where f.id = e.id returning f.id`,
      [now, abandoned, groupFiles],
    );
    if (gone.length < groupFiles) return;
  }
}

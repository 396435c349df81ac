import type { EntityManager } from '../../db/open-database.ts';

const abandonedMs = 86_400_000;

/** Deletes files whose time is over, and uploads that were begun a day ago and never ended because their process died. */
export async function forgetFiles(em: EntityManager, now: Date): Promise<void> {
  await em.execute('delete from stored_files where expires_at is not null and expires_at <= ?', [now]);
  await em.execute(`delete from stored_files where status = 'uploading' and created_at <= ?`, [
    new Date(now.getTime() - abandonedMs),
  ]);
}

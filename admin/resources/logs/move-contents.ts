import { executeBound } from '../../db/execute-bound.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { addJob } from '../../jobs/add-job.ts';
import type { JobHandler } from '../../jobs/job-runner.ts';
import { ObjectStoreError } from '../../object-store/object-store.ts';
import { recordContents } from './content-entity.ts';
import { storeInObjects } from './content-objects.ts';

export const moveContentsJob = 'move-log-bodies';

/** Contents that one step moves: those of one object. */
const stepRows = 50;
/** The object store has just failed. */
const firstDelayMs = 30_000;

/** Adds the job that moves the contents of an organisation that wait in the database. */
export function addMoveJob(em: EntityManager, organisationId: string): Promise<void> {
  const runAt = new Date(Date.now() + firstDelayMs);
  return addJob(em, { kind: moveContentsJob, key: organisationId, organisationId, runAt });
}

/** Adds the job again for organisations whose contents still wait. */
export async function resumeMoves(em: EntityManager): Promise<void> {
  const rows = await em.execute<{ id: string }[]>('select distinct organisation_id as id from record_contents where waits');
  for (const { id } of rows) await addMoveJob(em, id);
}

/** Job that moves contents to the object store that was away when they arrived. Fails while it is away, and is then repeated. */
export function moveContents({ database, objects }: AdminServices): JobHandler {
  return async ({ organisationId }) => {
    if (organisationId === null) return 'done';
    const em = database.em();
    const page = { orderBy: { createdAt: 'asc', id: 'asc' }, limit: stepRows } as const;
    const rows = await em.find(recordContents, { organisationId, waits: true }, page);
    if (rows.length === 0) return 'done';
    if (objects === null) throw new ObjectStoreError('OBJECT_STORE: not set, but bodies of requests wait for it');
    const contents = rows.map(({ id, createdAt, content }) => {
      return { id, createdAt: createdAt.toISOString(), organisationId, bytes: content };
    });
    const locations = await storeInObjects(em, objects, contents);
    if (locations.size === 0) throw new ObjectStoreError('OBJECT_STORE: cannot store bodies of requests yet');
    const moved = contents.map(({ id, createdAt }) => ({ id, createdAt, ...locations.get(id) }));
    await executeBound(
      em,
      `update record_contents c set waits = false, content = '', object_key = "objectKey", object_offset = "objectOffset",
         object_bytes = "objectBytes"
       from jsonb_to_recordset($1::jsonb)
         as moved(id uuid, "createdAt" timestamptz, "objectKey" text, "objectOffset" integer, "objectBytes" integer)
       where c.id = moved.id and c.created_at = moved."createdAt" and c.waits`,
      [JSON.stringify(moved)],
    );
    return { againInMs: 0 };
  };
}

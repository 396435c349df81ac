import { randomUUID } from 'node:crypto';
import { executeBound } from '../db/execute-bound.ts';
import type { Database, EntityManager } from '../db/open-database.ts';
import { addJob } from '../jobs/add-job.ts';
import { type ObjectStore, ObjectStoreError } from './object-store.ts';

export const deleteObjectsJob = 'delete-objects';

/** Objects that one step of the job deletes, and how many at the same time. */
const stepObjects = 200;
const parallel = 8;
/** Longer than a write to the store can take: an object that was deleted before it arrived would stay. */
const inFlightSeconds = 120;
const againMs = 10_000;

interface NewObject {
  readonly organisationId: string;
  readonly exportId?: string;
  /** Time of the newest body in the object. */
  readonly newestAt?: string;
}

/**
 * Stores an object under a new key and returns the key. Its row is committed first: `em` must not be in a transaction. Rejects with
 * ObjectStoreError; a later job then deletes what may have arrived.
 */
export async function storeObject(
  em: EntityManager,
  store: ObjectStore,
  { organisationId, exportId, newestAt }: NewObject,
  bytes: Uint8Array,
): Promise<string> {
  const day = newestAt?.slice(0, 10);
  const key = `${day === undefined ? `exports/${organisationId}/${exportId}` : `bodies/${day}/${organisationId}`}/${randomUUID()}`;
  const values = [key, organisationId, exportId ?? null, newestAt ?? null];
  await executeBound(
    em,
    'insert into stored_objects (key, organisation_id, export_id, newest_at) values ($1, $2, $3, $4)',
    values,
  );
  try {
    await store.put(key, bytes);
  } catch (error) {
    await deleteObjects(em, { key });
    throw error;
  }
  await em.execute('update stored_objects set is_stored = true where key = ?', [key]);
  return key;
}

/** Objects of an export, (null) those of exports that no export uses, one object, or those with bodies of requests before a time: of one organisation, or (null) of all. */
type Which =
  | { readonly exportId: string | null }
  | { readonly key: string }
  | { readonly before: Date; readonly organisationId: string | null };

/** Marks objects as deleted, and adds the job that deletes them. Wake the jobs after the commit. */
export async function deleteObjects(em: EntityManager, which: Which): Promise<void> {
  const [condition, values] = conditionOf(which);
  const marked = await em.execute<{ organisation_id: string }[]>(
    `with marked as (update stored_objects set deleted_at = now() where deleted_at is null and ${condition} returning organisation_id)
     select distinct organisation_id from marked order by 1`,
    values,
  );
  await addJobs(em, marked);
}

/** Adds the job again for organisations that have deleted objects left. */
export async function resumeDeletion(em: EntityManager): Promise<void> {
  await addJobs(
    em,
    await em.execute('select distinct organisation_id from stored_objects where deleted_at is not null order by 1'),
  );
}

async function addJobs(em: EntityManager, rows: readonly { readonly organisation_id: string }[]): Promise<void> {
  for (const { organisation_id: organisationId } of rows) {
    await addJob(em, { kind: deleteObjectsJob, key: organisationId, organisationId });
  }
}

/**
 * One step of the job: deletes some of the marked objects of an organisation, then their rows. Objects of a process that may still store them
 * are deleted later.
 */
export async function deleteMarked(
  database: Database,
  store: ObjectStore | null,
  organisationId: string,
): Promise<'done' | { readonly againInMs: number }> {
  const em = database.em();
  const rows = await em.execute<{ key: string }[]>(
    `select key from stored_objects where organisation_id = ? and deleted_at is not null
       and (is_stored or created_at < now() - make_interval(secs => ?)) order by key limit ?`,
    [organisationId, inFlightSeconds, stepObjects],
  );
  if (rows.length > 0 && store === null)
    throw new ObjectStoreError('OBJECT_STORE: not set, but objects of it are to be deleted. Set it again');
  for (let at = 0; at < rows.length; at += parallel) {
    const keys = rows.slice(at, at + parallel).map(({ key }) => key);
    await Promise.all(keys.map((key) => store?.remove(key)));
    await em.execute(`delete from stored_objects where key in (${keys.map(() => '?').join(', ')})`, keys);
  }
  if (rows.length === stepObjects) return { againInMs: 0 };
  const left = await em.execute<unknown[]>(
    'select 1 from stored_objects where organisation_id = ? and deleted_at is not null limit 1',
    [organisationId],
  );
  return left.length === 0 ? 'done' : { againInMs: againMs };
}

/** A running export may be about to write the row of a part. */
const unused = `export_id is not null
  and not exists (select from log_export_parts p where p.export_id = stored_objects.export_id and p.object_key = stored_objects.key)
  and not exists (select from log_exports e where e.id = stored_objects.export_id and e.status = 'in_progress')`;

function conditionOf(which: Which): [string, unknown[]] {
  if ('exportId' in which) return which.exportId === null ? [unused, []] : ['export_id = ?', [which.exportId]];
  if ('key' in which) return ['key = ?', [which.key]];
  const { before, organisationId } = which;
  return organisationId === null
    ? ['newest_at < ?', [before]]
    : ['newest_at < ? and organisation_id = ?', [before, organisationId]];
}

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { zstdDecompressSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ObjectStore } from '../../../../admin/object-store/object-store.ts';
import { deleteMarked } from '../../../../admin/object-store/stored-objects.ts';
import { deleteUnusedObjects } from '../../../../admin/resources/log-exports/parts.ts';
import { deleteExpiredFiles, exportJob } from '../../../../admin/resources/log-exports/run-export.ts';
import { bucketKeys, type FakeBucket, startFakeBucket } from '../../../support/fakes/fake-clouds/fake-bucket.ts';
import { randomFrom } from '../../../support/samples/random-from.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { until } from '../../../support/until.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { databases, ruleDatabases } from '../../support/test-database.ts';

describe.each(databases)('log exports in an object store, on %s', (database) => {
  let plane: Plane;
  let bucket: FakeBucket;
  let elapsedMs = 0;
  const ids: string[] = [];
  beforeAll(async () => {
    bucket = await startFakeBucket('bucket-1');
    const env = { OBJECT_STORE: 's3://bucket-1', S3_ENDPOINT: bucket.url, S3_PATH_STYLE: 'true', ...bucketKeys };
    plane = await startPlane(database, env, { clock: { now: () => Date.now(), elapsed: () => elapsedMs } });
    const tenant = { organisationId: plane.organisationId, workspaceId: plane.workspaceId };
    const records = Array.from({ length: 700 }, () => sampleRecord(tenant));
    await plane.internal('POST', '/records', records);
    ids.push(...records.map(({ id }) => id));
  });
  afterAll(async () => {
    await plane?.close();
    await bucket?.close();
  });

  const em = () => plane.control.services.database.em();
  const create = async (format: string): Promise<string> => {
    const body = { workspace_id: plane.workspaceId, filters: {}, requested_data: ['id'], format };
    return (await plane.ask('POST', '/logs/exports', { body })).body.id;
  };
  /** An export that no job runner knows. */
  async function unattended(format: string): Promise<string> {
    const id = await create(format);
    await em().execute(`update log_exports set status = 'in_progress', cut_at = now() where id = ?`, [id]);
    return id;
  }
  const run = (key: string, objects: ObjectStore | null = plane.control.services.objects) =>
    exportJob({ ...plane.control.services, objects })({
      ...{ key, organisationId: plane.organisationId, payload: {}, signal: new AbortController().signal },
    });
  const statusOf = async (id: string) => (await plane.ask('GET', `/logs/exports/${id}`)).body.status;
  async function download(id: string): Promise<Response> {
    const { pathname, search } = new URL((await plane.ask('GET', `/logs/exports/${id}/download`)).body.signed_url);
    return fetch(`${plane.url}${pathname}${search}`);
  }
  async function idsIn(id: string, format: string): Promise<string[]> {
    const file = await (await download(id)).arrayBuffer();
    const compressors = { ZSTD: (input: Uint8Array) => new Uint8Array(zstdDecompressSync(input)) };
    if (format === 'parquet') return (await parquetReadObjects({ file, compressors })).map(({ id: found }) => String(found));
    const lines = Buffer.from(file).toString().trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line).id);
  }
  const keysOf = (id: string) => [...bucket.objects.keys()].filter((key) => key.includes(id));
  const deleteAll = async () => {
    // Killed processes no longer store objects.
    await em().execute("update stored_objects set created_at = now() - interval '3 minutes'");
    return deleteMarked(plane.control.services.database, plane.control.services.objects, plane.organisationId);
  };

  it('the file is in the store, sealed, and is deleted with the export', async () => {
    const id = await create('jsonl');
    await plane.ask('POST', `/logs/exports/${id}/start`);
    await until(async () => (await statusOf(id)) === 'success');
    expect((await idsIn(id, 'jsonl')).sort()).toEqual([...ids].sort());
    expect(keysOf(id)).toHaveLength(2);
    expect(Buffer.concat([...bucket.objects.values()]).toString('latin1')).not.toContain(ids[0]);
    const parts = await em().execute('select length(bytes) as bytes from log_export_parts where export_id = ?', [id]);
    expect(parts).toEqual([{ bytes: 0 }, { bytes: 0 }]);
    await plane.ask('DELETE', `/logs/exports/${id}`);
    await until(() => keysOf(id).length === 0);
    await until(async () => (await em().execute('select 1 from stored_objects where export_id = ?', [id])).length === 0);
  });

  it.each(['jsonl', 'parquet'])('%s: has every record once if runs are killed around writes to the store', async (format) => {
    const random = randomFrom(7);
    const id = await unattended(format);
    const { objects, database: store } = plane.control.services;
    let kills = 0;
    for (let ended = false; !ended && kills < 200; ) {
      const killed = {
        ...(objects as ObjectStore),
        async put(key: string, bytes: Uint8Array) {
          const chance = random();
          if (chance < 0.2) throw new Error('killed before');
          await objects?.put(key, bytes);
          if (chance < 0.4) throw new Error('killed after');
        },
      };
      ended = await run(id, killed).then(
        () => true,
        () => false,
      );
      if (!ended) kills += 1;
      // A killed process counts no failure.
      await em().execute('update log_exports set failures = 0 where id = ?', [id]);
    }
    expect(kills).toBeGreaterThan(0);
    expect(await statusOf(id)).toBe('success');
    expect((await idsIn(id, format)).sort()).toEqual([...ids].sort());
    const used = await em().execute('select object_key as key from log_export_parts where export_id = ?', [id]);
    await deleteUnusedObjects(store.em());
    await until(async () => (await deleteAll()) === 'done' && keysOf(id).length === used.length);
    expect(keysOf(id).sort()).toEqual(used.map(({ key }) => String(key)).sort());
    await deleteExpiredFiles(store.em(), new Date(Date.now() + 8 * 86_400_000));
    await until(async () => (await deleteAll()) === 'done' && keysOf(id).length === 0);
  });

  it('cancelled while a part is stored: the object is deleted after it has arrived', async () => {
    const id = await unattended('jsonl');
    const { objects } = plane.control.services;
    await run(id, {
      ...(objects as ObjectStore),
      async put(key, bytes) {
        expect((await plane.ask('POST', `/logs/exports/${id}/cancel`)).status).toBe(200);
        const { database: store, objects: own } = plane.control.services;
        expect(await deleteMarked(store, own, plane.organisationId)).toEqual({ againInMs: 10_000 });
        await objects?.put(key, bytes);
      },
    });
    expect(await statusOf(id)).toBe('stopped');
    await until(async () => (await deleteAll()) === 'done' && keysOf(id).length === 0);
  });

  it('the store is away: the export waits and continues, and a download is 503', async () => {
    const id = await unattended('jsonl');
    bucket.trouble = 'denied';
    for (let failure = 0; failure < 4; failure++) await expect(run(id)).rejects.toThrow('OBJECT_STORE: ');
    expect(await statusOf(id)).toBe('in_progress');
    bucket.trouble = null;
    elapsedMs += 30_000;
    expect(await run(id)).toBe('done');
    bucket.trouble = 'denied';
    const refused = await download(id);
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ data: { errorCode: 'AB10' } });
    bucket.trouble = null;
    expect(await idsIn(id, 'jsonl')).toHaveLength(ids.length);
  });
});

it('log exports in a directory: the file is there and is deleted with the export', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'objects-'));
  const plane = await startPlane(ruleDatabases[0] as (typeof ruleDatabases)[number], {
    OBJECT_STORE: pathToFileURL(directory).href,
  });
  try {
    const { organisationId, workspaceId } = plane;
    const record = sampleRecord({ organisationId, workspaceId });
    await plane.internal('POST', '/records', [record]);
    const body = { workspace_id: workspaceId, filters: {}, requested_data: ['id'] };
    const { id } = (await plane.ask('POST', '/logs/exports', { body })).body;
    await plane.ask('POST', `/logs/exports/${id}/start`);
    await until(async () => (await plane.ask('GET', `/logs/exports/${id}`)).body.status === 'success');
    const { pathname, search } = new URL((await plane.ask('GET', `/logs/exports/${id}/download`)).body.signed_url);
    expect(await (await fetch(`${plane.url}${pathname}${search}`)).json()).toEqual({ id: record.id });
    expect(await readdir(join(directory, 'exports', organisationId, id))).toHaveLength(1);
    await plane.ask('DELETE', `/logs/exports/${id}`);
    await until(async () => (await readdir(directory)).length === 0);
  } finally {
    await plane.close();
    await rm(directory, { recursive: true, force: true });
  }
});

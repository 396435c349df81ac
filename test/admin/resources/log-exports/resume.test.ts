import { zstdDecompressSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logExports } from '../../../../admin/resources/log-exports/entity.ts';
import { fromPart, readParts } from '../../../../admin/resources/log-exports/parts.ts';
import { deleteExpiredFiles, exportJob } from '../../../../admin/resources/log-exports/run-export.ts';
import { randomFrom } from '../../../support/samples/random-from.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { databases } from '../../support/test-database.ts';

describe.each(databases)('log exports that are interrupted, on %s', (database) => {
  let plane: Plane;
  const ids: string[] = [];
  beforeAll(async () => {
    plane = await startPlane(database);
    const tenant = { organisationId: plane.organisationId, workspaceId: plane.workspaceId };
    for (const count of [900, 400]) {
      const records = Array.from({ length: count }, () => sampleRecord(tenant));
      await plane.internal('POST', '/records', records);
      ids.push(...records.map(({ id }) => id));
    }
  });
  afterAll(() => plane?.close());

  /** An export that no job runner knows. */
  async function started(format = 'jsonl'): Promise<string> {
    const body = { workspace_id: plane.workspaceId, filters: {}, requested_data: ['id'], format };
    const { id } = (await plane.ask('POST', '/logs/exports', { body })).body;
    const em = plane.control.services.database.em();
    await em.execute(`update log_exports set status = 'in_progress', cut_at = now() where id = ?`, [id]);
    return id;
  }

  /** Runs the job, with a stop after this many uses of the database or the vault. */
  async function run(key: string, usesMax: number): Promise<'done' | 'stopped'> {
    const { services } = plane.control;
    const stop = new AbortController();
    let uses = 0;
    const use = () => {
      if (++uses < usesMax) return;
      stop.abort();
      throw new Error('killed');
    };
    const { database: store, vault } = services;
    const job = exportJob({
      ...services,
      database: {
        ...store,
        emOf(organisationId) {
          use();
          return store.emOf(organisationId);
        },
      },
      vault: {
        ...vault,
        sealBytes(...args) {
          use();
          return vault.sealBytes(...args);
        },
      },
    });
    const run = { key, organisationId: plane.organisationId, payload: {}, signal: stop.signal };
    return job(run).then(
      () => 'done' as const,
      () => 'stopped' as const,
    );
  }

  async function exported(id: string): Promise<string[]> {
    const { database: store, vault, objects } = plane.control.services;
    const newManager = () => store.emOf(plane.organisationId);
    const row = await newManager().findOneOrFail(logExports, { id });
    if (row.format === 'parquet') {
      const pieces: Uint8Array[] = [];
      for await (const piece of readParts({ newManager, vault, objects, row }, 'file', row.parts + 1)) pieces.push(piece);
      expect(Buffer.concat(pieces).length).toBe(row.fileBytes);
      const compressors = { ZSTD: (input: Uint8Array) => new Uint8Array(zstdDecompressSync(input)) };
      const rows = await parquetReadObjects({ file: new Uint8Array(Buffer.concat(pieces)).buffer, compressors });
      return rows.map(({ id: found }) => String(found));
    }
    const found: string[] = [];
    for await (const part of readParts({ newManager, vault, objects, row }, 'rows', row.parts)) {
      const lines = (await fromPart(part)).toString().trimEnd().split('\n');
      found.push(...lines.map((line) => JSON.parse(line).id));
    }
    return found;
  }
  const status = async (id: string) => (await plane.ask('GET', `/logs/exports/${id}`)).body.status;

  it('have every record once, wherever the process was killed', async () => {
    const random = randomFrom(7);
    for (const format of ['jsonl', 'jsonl.gz', 'parquet']) {
      const id = await started(format);
      let stops = 0;
      while ((await run(id, 3 + Math.floor(random() * 14))) === 'stopped') stops++;
      expect(stops).toBeGreaterThan(0);
      expect(await status(id)).toBe('success');
      expect((await exported(id)).sort()).toEqual([...ids].sort());
    }
  });

  it('have every record once if two processes run the job at the same time', async () => {
    const id = await started();
    await Promise.all([run(id, 1e6), run(id, 1e6)]);
    expect(await status(id)).toBe('success');
    expect((await exported(id)).sort()).toEqual([...ids].sort());
  });

  it('leave out records that arrive after the start', async () => {
    const id = await started();
    await run(id, 5);
    const late = sampleRecord({
      ...{ organisationId: plane.organisationId, workspaceId: plane.workspaceId },
      createdAt: new Date(Date.now() + 60_000).toISOString(),
    });
    await plane.internal('POST', '/records', [late]);
    while ((await run(id, 1e6)) === 'stopped');
    expect(await exported(id)).not.toContain(late.id);
    await plane.control.services.database.em().execute('delete from request_records where id = ?', [late.id]);
  });

  it('stay stopped if they are cancelled while they run, without a part left', async () => {
    const id = await started();
    await run(id, 5);
    expect((await plane.ask('POST', `/logs/exports/${id}/cancel`)).status).toBe(200);
    expect(await run(id, 1e6)).toBe('done');
    expect(await status(id)).toBe('stopped');
    const { database: store } = plane.control.services;
    expect(await store.em().execute('select 1 from log_export_parts where export_id = ?', [id])).toEqual([]);
  });

  it('fail after repeated errors, and continue when they are started again', async () => {
    const id = await started();
    const { services } = plane.control;
    const broken = exportJob({ ...services, vault: { ...services.vault, sealBytes: () => Promise.reject(new Error('broken')) } });
    const runs = { key: id, organisationId: plane.organisationId, payload: {}, signal: new AbortController().signal };
    for (let failure = 0; failure < 3; failure++) await expect(broken(runs)).rejects.toThrow('broken');
    expect(await broken(runs)).toBe('done');
    expect((await plane.ask('GET', `/logs/exports/${id}`)).body).toMatchObject({ status: 'failed', error: expect.any(String) });
  });

  it('fail after repeated errors in one piece of the file, although the pieces before it are written again', async () => {
    const id = await started('parquet');
    const { services } = plane.control;
    const { vault } = services;
    const sealBytes: typeof vault.sealBytes = (em, context, bytes) =>
      context.column === 'file/1' ? Promise.reject(new Error('broken')) : vault.sealBytes(em, context, bytes);
    const broken = exportJob({ ...services, vault: { ...vault, sealBytes } });
    const run = { key: id, organisationId: plane.organisationId, payload: {}, signal: new AbortController().signal };
    for (let failure = 0; failure < 3; failure++) await expect(broken(run)).rejects.toThrow('broken');
    expect(await status(id)).toBe('failed');
  });

  it('fail after eight statements that end late, with the time range as remedy, and continue when they are started again', async () => {
    const id = await started();
    const { services } = plane.control;
    const run = { key: id, organisationId: plane.organisationId, payload: {}, signal: new AbortController().signal };
    // The error of a statement that the server cancels.
    const cancel = "do $$ begin raise exception 'canceling statement' using errcode = '57014'; end $$";
    const sealBytes = (em: { execute(text: string): Promise<unknown> }) => em.execute(cancel).then(() => new Uint8Array());
    const late = exportJob({ ...services, vault: { ...services.vault, sealBytes } });
    const read = async () => (await plane.ask('GET', `/logs/exports/${id}`)).body;
    for (let failure = 0; failure < 8; failure++) {
      expect((await read()).status).toBe('in_progress');
      await expect(late(run)).rejects.toThrow('canceling statement');
    }
    expect(await late(run)).toBe('done');
    expect(await read()).toMatchObject({ status: 'failed', error: expect.stringContaining('shorter time range') });
    await services.database.em().execute("update log_exports set status = 'in_progress', failures = 0 where id = ?", [id]);
    expect(await exportJob(services)(run)).toBe('done');
    expect((await exported(id)).sort()).toEqual([...ids].sort());
  });

  it('housekeeping deletes the files of expired exports', async () => {
    const id = await started();
    await run(id, 1e6);
    const { database: store } = plane.control.services;
    const parts = () => store.em().execute<unknown[]>('select 1 from log_export_parts where export_id = ?', [id]);
    await deleteExpiredFiles(store.em(), new Date());
    expect(await parts()).not.toEqual([]);
    await deleteExpiredFiles(store.em(), new Date(Date.now() + 8 * 86_400_000));
    expect(await parts()).toEqual([]);
    expect((await plane.ask('GET', `/logs/exports/${id}/download`)).status).toBe(404);
  });
});

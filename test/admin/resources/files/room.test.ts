import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { storedFiles } from '../../../../admin/resources/files/entity.ts';
import { FileRoom } from '../../../../admin/resources/files/file-room.ts';
import { forgetFiles } from '../../../../admin/resources/files/forget-files.ts';
import { newFakeTime } from '../../../support/fakes/fake-time.ts';
import { patternBytes } from '../../../support/samples/pattern-bytes.ts';
import { ownStoreOf } from '../../support/own-store.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('the storage limit of files, on %s', (database) => {
  let plane: Plane;
  afterEach(() => plane?.close());
  const start = async (env: Record<string, string>, time = newFakeTime(Date.now())) => {
    plane = await startPlane(database, env, { clock: time.clock });
    return { store: ownStoreOf(plane), time };
  };

  it('rejects a file above FILE_MAX with 413 and stores nothing of it', async () => {
    const { store } = await start({ FILE_MAX: '600000' });
    const refused = await store.upload(patternBytes(600_001));
    expect(refused.status).toBe(413);
    expect(refused.body.error).toMatchObject({ param: 'file', message: 'file: larger than 600000 bytes' });
    const many = await store.upload('x', Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`field-${i}`, 'v'])));
    expect([many.status, many.body.error.message]).toEqual([400, 'The form has more than 20 parts']);
    expect(await store.rows()).toEqual([]);
    expect(await store.chunkCount()).toBe(0);
    expect((await store.upload(patternBytes(600_000))).status).toBe(200);
  });

  it('rejects a file whose name has control characters and stores nothing of it', async () => {
    const { store } = await start({});
    const refused = await store.upload('x', {}, 'a\0b.jsonl');
    expect([refused.status, refused.body.error.param]).toEqual([400, 'file']);
    expect(await store.chunkCount()).toBe(0);
  });

  it('stores bytes without a file name under the name "file"', async () => {
    const { store } = await start({});
    const stored = await store.upload('{}', {}, null);
    expect([stored.status, stored.body.filename]).toEqual([200, 'file']);
    expect(await store.content(stored.body.id)).toBe('{}');
  });

  it('rejects a file without a purpose, and names the header for a provider', async () => {
    const { store } = await start({});
    const refused = await store.upload('x', { purpose: '' });
    expect([refused.status, refused.body.error.param]).toEqual([400, 'purpose']);
    expect(refused.body.error.message).toContain('name the provider in x-svc-provider');
    expect(await store.chunkCount()).toBe(0);
  });

  it('is never exceeded by concurrent uploads, and deleted files free it', async () => {
    const { store } = await start({ WORKSPACE_FILE_BYTES_MAX: '1000000' });
    const replies = await Promise.all(Array.from({ length: 6 }, () => store.upload(patternBytes(400_000))));
    const kept = replies.filter(({ status }) => status === 200);
    const refused = replies.filter(({ status }) => status === 413);
    expect(kept.length + refused.length).toBe(6);
    expect(kept.length).toBeLessThanOrEqual(2);
    expect(refused[0]?.body.error).toMatchObject({ param: 'file' });
    expect(refused[0]?.body.error.message).toContain('would exceed 1000000 bytes');
    // A rejected upload releases its space, so later uploads fit.
    while ((await store.upload(patternBytes(400_000))).status === 200);
    const rows = await store.rows();
    expect(rows.map((row) => Number(row.bytes))).toEqual([400_000, 400_000]);
    expect((await store.upload(patternBytes(200_000))).status).toBe(200);
    expect((await store.upload('x')).status).toBe(413);
    const id = `svc_file_${rows[0]?.id}`;
    expect((await store.ask('DELETE', `/files/${id}`)).status).toBe(200);
    expect((await store.upload(patternBytes(400_000))).status).toBe(200);
  });

  it('is never exceeded by concurrent reservations', async () => {
    const { store, time } = await start({ DB_POOL_SIZE: '20' });
    const { organisationId, workspaceId } = plane;
    const newManager = () => plane.control.services.database.em();
    const now = new Date(time.clock.now());
    const quota = { bytesMax: 1_000, filesMax: 15 };
    const rooms = Array.from({ length: 20 }, () => {
      const ids = { id: randomUUID(), organisationId, workspaceId, createdByKey: null, createdByUser: null };
      const facts = { filename: 'file', purpose: '', contentType: 'text/plain', bytes: 0, status: 'uploading' as const };
      const file = newManager().create(storedFiles, { ...ids, ...facts, createdAt: now, expiresAt: null });
      return new FileRoom(newManager, file, quota, now);
    });
    const opened = await Promise.allSettled(rooms.map((room) => room.open()));
    expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(15);
    const grown = await Promise.allSettled(rooms.map((room) => room.growTo(90)));
    const bytes = (await store.rows()).map((row) => Number(row.bytes));
    expect(bytes.reduce((one, other) => one + other, 0)).toBeLessThanOrEqual(1_000);
    expect(grown.some(({ status }) => status === 'rejected')).toBe(true);
  });

  it('includes a number of files, and applies to one workspace', async () => {
    const { store } = await start({ WORKSPACE_FILES_MAX: '2' });
    const replies = await Promise.all(Array.from({ length: 5 }, () => store.upload('a')));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 413, 413, 413]);
    expect(replies.find(({ status }) => status === 413)?.body.error.message).toContain('2 files');
    const made = await plane.ask('POST', '/admin/workspaces', { body: { name: 'Other' } });
    const other = ownStoreOf({ ...plane, workspaceId: made.body.id ?? made.body.data.id });
    expect((await other.upload('a')).status).toBe(200);
  });

  it('is freed by expired files at once, and their bytes are deleted by the next housekeeping', async () => {
    const { store, time } = await start({ WORKSPACE_FILES_MAX: '1' });
    const file = await store.upload(patternBytes(300_000), {
      'expires_after[anchor]': 'created_at',
      'expires_after[seconds]': '3600',
    });
    expect(file.body.expires_at - file.body.created_at).toBe(3_600);
    time.advance(3_599_000);
    const em = () => plane.control.services.database.em();
    await forgetFiles(em(), new Date(time.clock.now()));
    expect((await store.ask('GET', `/files/${file.body.id}`)).status).toBe(200);
    time.advance(2_000);
    expect((await store.ask('GET', `/files/${file.body.id}`)).status).toBe(404);
    expect((await store.upload('next')).status).toBe(200);
    await forgetFiles(em(), new Date(time.clock.now()));
    expect((await store.rows()).map((row) => Number(row.bytes))).toEqual([4]);
    expect(await store.chunkCount()).toBe(1);
  });

  it('is freed by uploads that ended with their process, a day later', async () => {
    const { store, time } = await start({});
    const { organisationId, workspaceId } = plane;
    const em = () => plane.control.services.database.em();
    for (let i = 0; i < 45; i++) {
      await em().insert(storedFiles, {
        ...{ id: randomUUID(), organisationId, workspaceId, createdByKey: null, createdByUser: null },
        ...{ filename: 'file', purpose: '', contentType: 'text/plain', bytes: 5, status: 'uploading' },
        ...{ createdAt: new Date(time.clock.now()), expiresAt: null },
      });
    }
    time.advance(86_399_000);
    await forgetFiles(em(), new Date(time.clock.now()));
    expect(await store.rows()).toHaveLength(45);
    time.advance(2_000);
    await forgetFiles(em(), new Date(time.clock.now()));
    expect(await store.rows()).toEqual([]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deleteMarked } from '../../../../admin/object-store/stored-objects.ts';
import { moveContents } from '../../../../admin/resources/logs/move-contents.ts';
import { housekeepingTasks } from '../../../../admin/tables.ts';
import type { RecordContent } from '../../../../core/contract/protocol/record-contents.ts';
import { bucketKeys, type FakeBucket, startFakeBucket } from '../../../support/fakes/fake-clouds/fake-bucket.ts';
import { newMemoryLog } from '../../../support/fakes/memory-log.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { type Plane, startPlane, type Tenant } from '../../support/plane.ts';
import { databases } from '../../support/test-database.ts';

const dayMs = 86_400_000;

describe.each(databases)('headers and bodies in an object store, on %s', (name) => {
  let plane: Plane;
  let bucket: FakeBucket;
  let elapsedMs = 0;
  beforeAll(async () => {
    bucket = await startFakeBucket('bucket-1');
    const env = { OBJECT_STORE: 's3://bucket-1/svc', S3_ENDPOINT: bucket.url, S3_PATH_STYLE: 'true', ...bucketKeys };
    const clock = { now: () => Date.now(), elapsed: () => elapsedMs };
    plane = await startPlane(name, { LOG_BODIES: 'object_store', ...env }, { clock });
  });
  afterAll(async () => {
    await plane?.close();
    await bucket?.close();
  });

  const em = () => plane.control.services.database.em();

  async function store(tenant: Pick<Tenant, 'organisationId' | 'workspaceId'>, texts: readonly string[], daysOfAge = 0) {
    const { organisationId, workspaceId } = tenant;
    const contents: RecordContent[] = [];
    for (const text of texts) {
      const createdAt = new Date(Date.now() - daysOfAge * dayMs).toISOString();
      const record = sampleRecord({ organisationId, workspaceId, createdAt });
      await plane.internal('POST', '/records', [record]);
      const side = { headers: { accept: '*/*' }, body: { text }, omitted: null };
      contents.push({ id: record.id, createdAt, organisationId, workspaceId, request: side, response: side });
    }
    expect((await plane.internal('POST', '/record-contents', contents)).status).toBe(200);
    return contents;
  }
  const textOf = async ({ id }: RecordContent, key = plane.adminKey) => {
    const { body } = await plane.ask('GET', `/logs/${id}`, { key });
    return body.request.body?.text ?? body.request.omitted;
  };
  const keysOf = (organisationId: string) => [...bucket.objects.keys()].filter((key) => key.includes(organisationId));
  const waiting = async () => Number((await em().execute('select count(*) as count from record_contents where waits'))[0].count);
  const runMove = () =>
    moveContents(plane.control.services)({
      ...{ key: plane.organisationId, organisationId: plane.organisationId, payload: {}, signal: new AbortController().signal },
    });

  it('are stored sealed in one object per batch and organisation, and read in parts', async () => {
    const [first, second] = await store(plane, ['a private sentence', 'another sentence']);
    const keys = keysOf(plane.organisationId);
    expect(keys).toEqual([
      expect.stringMatching(new RegExp(`^svc/bodies/\\d{4}-\\d{2}-\\d{2}/${plane.organisationId}/[0-9a-f-]{36}$`)),
    ]);
    expect(bucket.objects.get(keys[0] as string)?.toString('latin1')).not.toContain('sentence');
    const rows = await em().execute('select length(content) as bytes from record_contents where organisation_id = ?', [
      plane.organisationId,
    ]);
    expect(rows).toEqual([{ bytes: 0 }, { bytes: 0 }]);
    bucket.requests.length = 0;
    expect([await textOf(first as RecordContent), await textOf(second as RecordContent)]).toEqual([
      'a private sentence',
      'another sentence',
    ]);
    expect(bucket.requests).toEqual([1, 2].map(() => expect.stringMatching(/^GET .* bytes=\d+-\d+$/)));
    bucket.requests.length = 0;
    const found = await plane.ask('GET', '/logs?search=sentence');
    expect(found.body.data.map(({ _id }: { _id: string }) => _id).sort()).toEqual([first?.id, second?.id].sort());
    expect(bucket.requests).toHaveLength(1);
  });

  it('a batch of two organisations makes two objects, and neither reads the other', async () => {
    const other = await plane.newTenant();
    const [mine] = await store(plane, ['mine']);
    const [theirs] = await store(other, ['theirs']);
    expect(keysOf(other.organisationId)).toHaveLength(1);
    expect(await textOf(theirs as RecordContent, other.adminKey)).toBe('theirs');
    expect((await plane.ask('GET', `/logs/${mine?.id}`, { key: other.adminKey })).status).toBe(404);
  });

  it('the store is away: bodies wait in the database, can be read, and a job moves them when it is back', async () => {
    bucket.trouble = 'denied';
    const [content] = await store(plane, ['while it is away']);
    expect(await waiting()).toBe(1);
    expect(await textOf(content as RecordContent)).toBe('while it is away');
    expect(plane.log.lines.some(({ message }) => message.startsWith('cannot write to the object store'))).toBe(true);
    const metrics = await (await fetch(`${plane.url}/metrics`)).text();
    expect(metrics).toMatch(/^svc_log_bodies_waiting\{process="control-plane"\} 1$/m);
    await expect(runMove()).rejects.toThrow('OBJECT_STORE: cannot store bodies of requests yet');
    bucket.trouble = null;
    elapsedMs += 30_000;
    expect(await runMove()).toEqual({ againInMs: 0 });
    expect(await runMove()).toBe('done');
    expect(await waiting()).toBe(0);
    expect(await textOf(content as RecordContent)).toBe('while it is away');
  });

  it('the store is away: a log is shown without its bodies, and a search and a replay are 503', async () => {
    const [content] = await store(plane, ['cannot be read now']);
    bucket.trouble = 'denied';
    const shown = await plane.ask('GET', `/logs/${content?.id}`);
    expect([shown.status, shown.body.request]).toMatchObject([200, { body: null, omitted: 'unavailable' }]);
    const key = await plane.newKey(['completions.write']);
    const refused = [
      await plane.ask('GET', '/logs?search=cannot'),
      await plane.ask('POST', `/logs/${content?.id}/replay`, { key, body: {} }),
    ];
    for (const { status, body } of refused) {
      expect([status, body.data.errorCode, body.data.message]).toEqual([503, 'AB10', expect.stringContaining('OBJECT_STORE')]);
    }
    bucket.trouble = null;
    for (const object of keysOf(plane.organisationId)) bucket.objects.delete(object);
    expect(await textOf(content as RecordContent)).toBe('unreadable');
  });

  it('the store does not reply: requests end before their deadline, and name the store', async () => {
    const [content] = await store(plane, ['read too slowly']);
    bucket.trouble = 'silent';
    const startedAt = performance.now();
    const shown = await plane.ask('GET', `/logs/${content?.id}`);
    const found = await plane.ask('GET', '/logs?search=slowly');
    const elapsedOfBoth = performance.now() - startedAt;
    bucket.trouble = null;
    expect([shown.status, shown.body.request]).toMatchObject([200, { body: null, omitted: 'unavailable' }]);
    expect([found.status, found.body.data.message]).toEqual([503, expect.stringContaining('OBJECT_STORE')]);
    // Each attempt of the store itself takes up to 4 s.
    expect(elapsedOfBoth).toBeLessThan(2 * 2_800);
    expect(await textOf(content as RecordContent)).toBe('read too slowly');
  });

  it('retention deletes objects with their bodies, also if the store is away at first', async () => {
    const short = await plane.newTenant();
    const [old, young] = [...(await store(short, ['old'], 6)), ...(await store(short, ['young'], 4))];
    await plane.ask('PUT', '/organisations/self', { key: short.adminKey, body: { settings: { log_body_retention_days: 5 } } });
    bucket.trouble = 'denied';
    const { settings, database, clickhouse, mailer, clock } = plane.control.services;
    for (const task of housekeepingTasks.filter((one) => one.name.startsWith('delete'))) {
      await task.run({ settings, database, clickhouse, mailer, clock, log: newMemoryLog(), isClosing: () => false });
    }
    const marked = await em().execute('select key from stored_objects where deleted_at is not null and organisation_id = ?', [
      short.organisationId,
    ]);
    expect(marked).toHaveLength(1);
    const run = () => deleteMarked(database, plane.control.services.objects, short.organisationId);
    await expect(run()).rejects.toThrow('AccessDenied');
    bucket.trouble = null;
    expect(await run()).toBe('done');
    expect(keysOf(short.organisationId)).toHaveLength(1);
    expect(await textOf(old as RecordContent, short.adminKey)).toBe('not_stored');
    expect(await textOf(young as RecordContent, short.adminKey)).toBe('young');
  });
});

import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestRecord } from '../../../../core/contract/plugin/record/record.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { until } from '../../../support/until.ts';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { newPerson } from '../../support/people.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const filters = { time_of_generation_min: '2026-11-01T00:00:00.000Z', time_of_generation_max: '2026-11-30T00:00:00.000Z' };

/** Returns as many keys, each with 100 texts. */
const manyTexts = (keys: number) =>
  Object.fromEntries(Array.from({ length: keys }, (_, key) => [`key${key}`, Array.from({ length: 100 }, (_, n) => `text ${n}`)]));

describe.each(ruleDatabases)('log exports, on %s', (database) => {
  let plane: Plane;
  let records: RequestRecord[];
  beforeAll(async () => {
    plane = await startPlane(database);
    const tenant = { organisationId: plane.organisationId, workspaceId: plane.workspaceId };
    records = Array.from({ length: 3 }, (_, minute) =>
      sampleRecord({ ...tenant, createdAt: `2026-11-21T01:0${minute}:00.000Z`, metadata: { team: `t${minute}` } }),
    );
    expect((await plane.internal('POST', '/records', records)).body).toMatchObject({ inserted: 3 });
  });
  afterAll(() => plane?.close());

  const create = (body: object, key = plane.adminKey) => plane.ask('POST', '/logs/exports', { key, body });
  const draft = async (body: object = {}, key = plane.adminKey): Promise<string> => {
    const made = await create({ filters, requested_data: ['id'], ...body }, key);
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    return made.body.id;
  };
  const read = async (id: string) => (await plane.ask('GET', `/logs/exports/${id}`)).body;
  const start = (id: string, key = plane.adminKey) => plane.ask('POST', `/logs/exports/${id}/start`, { key });
  const ended = (id: string) =>
    until(async () => {
      const found = await read(id);
      return found.status === 'in_progress' ? null : found;
    });
  /** URLs name the public address of the service; there is no gateway here. */
  const urlOf = async (id: string) => {
    const { body } = await plane.ask('GET', `/logs/exports/${id}/download`);
    return `${plane.url}${new URL(body.signed_url).pathname}${new URL(body.signed_url).search}`;
  };

  it('exports the requested fields, newest first, and reports progress', async () => {
    const body = { filters, requested_data: ['trace_id', 'cost', 'metadata', 'ai_model'], description: 'monthly' };
    const trace = (action: string) => ({ resource: 'log_exports', action, events: [] });
    const made = await expectChange(plane, () => create(body), trace('create'));
    expect(made.body).toEqual({ id: expect.any(String), total: 3, object: 'export' });
    const { id } = made.body;
    expect(await read(id)).toMatchObject({ ...body, status: 'draft', total_records: 3, exported_records: 0, object: 'export' });
    const change = { filters: { ...filters, metadata: { team: ['t0', 't2'] } } };
    const changed = await expectChange(plane, () => plane.ask('PUT', `/logs/exports/${id}`, { body: change }), trace('update'));
    expect(changed.body).toEqual({ id, total: 2, object: 'export' });
    await expectChange(plane, () => start(id), trace('start'));
    expect(await ended(id)).toMatchObject({ status: 'success', total_records: 2, exported_records: 2, error: null });
    const reply = await fetch(await urlOf(id));
    expect(reply.headers.get('content-disposition')).toBe(`attachment; filename="logs-${id}.jsonl"`);
    const lines = (await reply.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toEqual(
      [records[2], records[0]].map((record) => ({
        trace_id: record?.traceId,
        cost: 0.0045,
        metadata: record?.metadata,
        ai_model: 'gpt-4o-mini',
      })),
    );
    const list = (await plane.ask('GET', `/logs/exports?workspace_id=${plane.workspaceId}`)).body;
    expect(list).toMatchObject({ object: 'list', total: 1, data: [{ id, status: 'success' }] });
    await expectChange(plane, () => plane.ask('DELETE', `/logs/exports/${id}`), trace('delete'));
    expect((await plane.ask('GET', `/logs/exports/${id}`)).status).toBe(404);
  });

  it('exports a page of the records, compressed', async () => {
    const id = await draft({ filters: { ...filters, page_size: 2, current_page: 1 }, format: 'jsonl.gz' });
    expect(await read(id)).toMatchObject({ total_records: 1 });
    await start(id);
    await ended(id);
    const reply = await fetch(await urlOf(id));
    const bytes = new Uint8Array(await reply.arrayBuffer());
    expect(Number(reply.headers.get('content-length'))).toBe(bytes.length);
    expect(gunzipSync(bytes).toString()).toBe(`{"id":"${records[0]?.id}"}\n`);
  });

  it('exports Parquet that a reader of its own understands', async () => {
    const requested_data = ['created_at', 'id', 'metadata', 'cost', 'is_success', 'response_status_code', 'prompt_slug'];
    const id = await draft({ requested_data, format: 'parquet' });
    await start(id);
    expect(await ended(id)).toMatchObject({ status: 'success', error: null });
    const reply = await fetch(await urlOf(id));
    const bytes = await reply.arrayBuffer();
    expect(Number(reply.headers.get('content-length'))).toBe(bytes.byteLength);
    // Some readers take a time without this type for a local one.
    const utc = { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' };
    expect(parquetMetadata(bytes).schema.find(({ name }) => name === 'created_at')).toMatchObject({ logical_type: utc });
    const compressors = { ZSTD: (input: Uint8Array) => new Uint8Array(zstdDecompressSync(input)) };
    expect(await parquetReadObjects({ file: bytes, compressors })).toEqual(
      records.toReversed().map((record) => ({
        ...{ created_at: new Date(record.createdAt), id: record.id, metadata: record.metadata, cost: 0.0045 },
        ...{ is_success: true, response_status_code: 200, prompt_slug: null },
      })),
    );
  });

  it('exports nothing as an empty file', async () => {
    const id = await draft({ filters: { ai_model: 'none' } });
    await start(id);
    expect(await ended(id)).toMatchObject({ status: 'success', total_records: 0 });
    expect(await (await fetch(await urlOf(id))).text()).toBe('');
  });

  it('rejects transitions that a state does not have', async () => {
    const id = await draft();
    const act =
      (method: string, path = '') =>
      () =>
        plane.ask(method, `/logs/exports/${id}${path}`, method === 'PUT' ? { body: { description: 'x' } } : {});
    await expectRefusal(plane, act('POST', '/cancel'), 409, 'AB07', true);
    await expectRefusal(plane, act('GET', '/download'), 404, 'AB08', false);
    await start(id);
    await ended(id);
    for (const [method, path] of [
      ['POST', '/start'],
      ['POST', '/cancel'],
      ['PUT', ''],
    ] as const)
      await expectRefusal(plane, act(method, path), 409, 'AB07', true);
    const set = (status: string) =>
      plane.control.services.database.em().execute('update log_exports set status = ? where id = ?', [status, id]);
    await set('in_progress');
    await expectRefusal(plane, act('DELETE'), 409, 'AB07', true);
    expect((await act('POST', '/cancel')()).body).toMatchObject({ object: 'export', message: expect.any(String) });
    expect(await read(id)).toMatchObject({ status: 'stopped' });
    for (const [method, path] of [
      ['POST', '/start'],
      ['POST', '/cancel'],
      ['PUT', ''],
    ] as const)
      await expectRefusal(plane, act(method, path), 409, 'AB07', true);
    await expectRefusal(plane, act('GET', '/download'), 404, 'AB08', false);
    await set('failed');
    await start(id);
    expect(await ended(id)).toMatchObject({ status: 'success' });
  });

  it.each([
    ['an unknown field', { requested_data: ['password'] }, 'requested_data'],
    ['no field', { requested_data: [] }, 'requested_data'],
    ['an unknown filter', { filters: { model: 'x' } }, 'filters.model'],
    ['a wrong filter', { filters: { cost_min: -1 } }, 'filters.cost_min'],
    ['too many texts of metadata', { filters: { metadata: manyTexts(11) } }, 'filters.metadata'],
    ['too many records', { filters: { page_size: 50_001 } }, 'filters.page_size'],
    ['an unknown format', { format: 'csv' }, 'format'],
  ])('rejects %s with the name of the field', async (_what, changes, field) => {
    const reply = await expectRefusal(plane, () => create({ filters, requested_data: ['id'], ...changes }), 400, 'AB01', true);
    expect(reply.body.data.message).toContain(field);
  });

  it('accepts a filter by 1,000 texts of metadata', async () => {
    expect((await read(await draft({ filters: { ...filters, metadata: manyTexts(10) } }))).total_records).toBe(0);
  });

  it('denied fields: rejected when creating, starting and running', async () => {
    const deny = (deniedFields: string[]) =>
      plane.ask('PUT', '/organisations/self', { body: { export_settings: { deniedFields } } });
    const id = await draft({ requested_data: ['id', 'cost'] });
    await deny(['cost']);
    const refused = await expectRefusal(plane, () => create({ filters, requested_data: ['cost'] }), 400, 'AB01', true);
    expect(refused.body.data.message).toContain('requested_data: ');
    await expectRefusal(plane, () => start(id), 400, 'AB01', true);
    expect((await plane.ask('GET', '/logs/exports/field-restrictions')).body).toEqual({ deniedFields: ['cost'] });
    const { database, wakeJobs } = plane.control.services;
    await database.em().execute(`update log_exports set status = 'in_progress' where id = ?`, [id]);
    await database.em().execute(
      `insert into jobs (id, kind, key, organisation_id, payload, run_at, attempts, created_at)
       values (gen_random_uuid(), 'log-export', ?, ?, '{}', now(), 0, now())`,
      [id, plane.organisationId],
    );
    wakeJobs();
    expect(await ended(id)).toMatchObject({ status: 'failed', error: expect.stringContaining('requested_data') });
    await deny([]);
  });

  it('the key of a user sees only the exports of this user, and metadata only if the role allows it', async () => {
    const member = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'member' }]);
    const body = { name: 'K', scopes: ['logs.export'], user_id: member.id, workspace_id: plane.workspaceId };
    const { key } = (await plane.ask('POST', '/api-keys/workspace/user', { body })).body;
    const theirs = await draft();
    const own = await draft({}, key);
    const list = (await plane.ask('GET', '/logs/exports', { key })).body;
    expect(list.data.map((one: { id: string }) => one.id)).toEqual([own]);
    for (const method of ['GET', 'DELETE']) {
      expect((await plane.ask(method, `/logs/exports/${theirs}`, { key })).status).toBe(404);
    }
    const security = (security_settings: object) => plane.ask('PUT', '/organisations/self', { body: { security_settings } });
    await security({ membersViewLogMetadata: false, membersViewAllData: false });
    await expectRefusal(plane, () => create({ filters, requested_data: ['metadata'] }, key), 403, 'AB03', true);
    const made = await create({ filters, requested_data: ['id'] }, key);
    expect(made.body.total).toBe(0);
    // An export of all data starts with what its starter may see.
    await start(own, key);
    expect(await ended(own)).toMatchObject({ status: 'success', total_records: 0 });
    await security({ membersViewLogMetadata: true, membersViewAllData: true });
  });

  it('downloads need the rights to read what the file contains, at the time of the download', async () => {
    const admin = await newPerson(plane, 'admin');
    const member = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'member' }]);
    const security = (security_settings: object) => plane.ask('PUT', '/organisations/self', { body: { security_settings } });
    const download = (id: string, key: string) => plane.ask('GET', `/logs/exports/${id}/download`, { key });
    const exported = async (requested_data: string[], key = plane.adminKey) => {
      const id = await draft({ requested_data }, key);
      await start(id, key);
      await ended(id);
      return id;
    };
    const [ids, withMetadata, withHeaders, ofMember] = [
      await exported(['id']),
      await exported(['metadata']),
      await exported(['request']),
      await exported(['id'], member.token),
    ];
    await security({ organisationAdminsViewLogMetadata: false, membersViewAllData: false });
    for (const id of [withMetadata, withHeaders]) await expectRefusal(plane, () => download(id, admin.token), 403, 'AB03', false);
    expect((await download(ids, admin.token)).status).toBe(200);
    expect((await expectRefusal(plane, () => download(ofMember, member.token), 403, 'AB03', false)).body.data.message).toContain(
      'requests of other users',
    );
    // An export that this admin starts contains no headers with metadata.
    const { id, createdAt, organisationId, workspaceId } = records[0] as RequestRecord;
    const request = { headers: { 'x-svc-metadata': '{"team":"t0"}', 'user-agent': 'curl' }, body: null, omitted: null };
    const content = { id, createdAt, organisationId, workspaceId, request, response: { ...request, headers: {} } };
    expect((await plane.internal('POST', '/record-contents', [content])).status).toBe(200);
    const startedByAdmin = await draft({ requested_data: ['request'] });
    await start(startedByAdmin, admin.token);
    await ended(startedByAdmin);
    expect((await download(startedByAdmin, admin.token)).status).toBe(200);
    const file = await (await fetch(await urlOf(startedByAdmin))).text();
    expect(file).toContain('curl');
    expect(file).not.toContain('x-svc-metadata');
    await security({ organisationAdminsViewLogs: false });
    await expectRefusal(plane, () => download(ids, admin.token), 403, 'AB03', false);
    await security({ organisationAdminsViewLogs: true, organisationAdminsViewLogMetadata: true, membersViewAllData: true });
  });

  it('signed URLs: open one file for a limited time', async () => {
    const [id, other] = [await draft(), await draft()];
    for (const each of [id, other]) {
      await start(each);
      await ended(each);
    }
    const url = await urlOf(id);
    const status = async (changed: string) => (await fetch(changed)).status;
    expect(await status(url)).toBe(200);
    expect(await status(url.replace(id, other))).toBe(404);
    expect(await status(url.replace(/expires=\d+/, 'expires=99999999999'))).toBe(404);
    expect(await status(url.replace(/signature=.{4}/, 'signature=AAAA'))).toBe(404);
    expect(await status(url.replace(id, '..%2F..%2Fetc%2Fpasswd'))).toBe(404);
    expect(await status(url.replace(/\?.*/, ''))).toBe(404);
    const em = plane.control.services.database.em();
    await em.execute(`update log_exports set expires_at = now() - interval '1 second' where id = ?`, [id]);
    expect(await status(url)).toBe(404);
    await expectRefusal(plane, () => plane.ask('GET', `/logs/exports/${id}/download`), 404, 'AB08', false);
    await plane.ask('DELETE', `/logs/exports/${other}`);
    const left = await em.execute('select 1 from log_export_parts where export_id = ?', [other]);
    expect(left).toEqual([]);
  });
});

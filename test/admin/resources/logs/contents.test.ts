import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { zstdDecompressSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecordContent } from '../../../../core/contract/protocol/record-contents.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { until } from '../../../support/until.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { databases } from '../../support/test-database.ts';

describe.each(databases)('headers and bodies of requests, on %s', (name) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(name, { LOG_BODIES: 'database', LOG_BODY_MAX: '1024' });
  });
  afterAll(() => plane?.close());

  const em = () => plane.control.services.database.em();
  async function store(text: string, at = plane): Promise<RecordContent> {
    const { organisationId, workspaceId } = at;
    const record = sampleRecord({ organisationId, workspaceId });
    const side = { headers: { 'content-type': 'application/json' }, body: { text }, omitted: null };
    const prompt = { variables: { text }, omitted: null };
    const tenant = { organisationId, workspaceId };
    const sent = { url: 'https://provider.example/v1/messages', method: 'POST', ...side };
    const params = { body: { changed: text }, omitted: null };
    const exchange = { params, request: sent, response: { status: 200, ...side } };
    const content = { id: record.id, createdAt: record.createdAt, ...tenant, request: side, response: side, prompt, exchange };
    await at.internal('POST', '/records', [record]);
    expect(await at.internal('POST', '/record-contents', [content])).toMatchObject({ status: 200 });
    return content;
  }

  it('are stored once, sealed, and shown with the log', async () => {
    const content = await store('a very private sentence');
    const other = { ...content, request: { ...content.request, body: 'other' } };
    expect((await plane.internal('POST', '/record-contents', [other])).status).toBe(200);
    const { body } = await plane.ask('GET', `/logs/${content.id}`);
    expect(body.request).toMatchObject({ method: 'POST', ...content.request });
    expect(body.response).toMatchObject({ status: 200, ...content.response });
    expect(body.prompt).toEqual(content.prompt);
    expect(body.finalUntransformedRequest).toMatchObject({ method: 'POST', headers: {}, ...content.exchange?.params });
    expect(body.transformedRequest).toEqual(content.exchange?.request);
    expect(body.originalResponse).toEqual(content.exchange?.response);
    const hooks = await plane.ask('GET', `/logs/${content.id}?type=hooks`);
    expect(hooks.body).toMatchObject({
      _id: content.id,
      guardrails: [],
      request: { headers: {}, body: null, omitted: null },
      prompt: null,
    });
    expect(hooks.body).toMatchObject({ finalUntransformedRequest: null, transformedRequest: null, originalResponse: null });
    const wrong = await plane.ask('GET', `/logs/${content.id}?type=other`);
    expect([wrong.status, wrong.body.data.message]).toEqual([400, 'type: hooks is expected']);
    const [row] = await em().execute<[{ raw: string }]>(
      "select encode(content, 'escape') as raw from record_contents where id = ?",
      [content.id],
    );
    expect(row.raw).not.toContain('private');
  });

  it('cannot be read by another organisation, nor opened as those of another request', async () => {
    const content = await store('of the first organisation');
    const other = await plane.newTenant();
    expect((await plane.ask('GET', `/logs/${content.id}`, { key: other.adminKey })).status).toBe(404);
    const ofOther = plane.control.services.database.emOf(other.organisationId);
    expect(await ofOther.transactional((tx) => tx.execute('select id from record_contents'))).toEqual([]);
    const moved = await store('another');
    await em().execute('update record_contents set content = (select content from record_contents where id = ?) where id = ?', [
      content.id,
      moved.id,
    ]);
    const log = await plane.ask('GET', `/logs/${moved.id}`);
    const unreadable = { headers: {}, body: null, omitted: 'unreadable' };
    expect([log.status, log.body]).toMatchObject([200, { request: unreadable, response: unreadable, prompt: null }]);
    const searched = await plane.ask('GET', '/logs?search=first%20organisation');
    expect([searched.status, searched.body.data.map(({ _id }: { _id: string }) => _id)]).toEqual([200, [content.id]]);
    await em().execute('delete from record_contents where id = ?', [moved.id]);
  });

  const request = { url: 'https://api.openai.com/v1/embeddings', body: { model: 'm', input: 'a blue whale', api_key: 'k' } };
  const insert = async (log: object) => {
    const key = await plane.newKey(['logs.write', 'completions.write', 'logs.view']);
    const { body } = await plane.ask('POST', '/logs', { key, body: log });
    return { key, id: body.log_ids[0] as string };
  };

  it('inserted logs: bodies are stored masked and cut, unless debug_log is 0', async () => {
    const headers = { 'X-Api-Key': 'secret', accept: 'text/plain' };
    const response = { headers, body: { data: [{ embedding: [1, 2] }], note: 'x'.repeat(2_000) } };
    const { id } = await insert({ request: { ...request, headers }, response });
    const { body } = await plane.ask('GET', `/logs/${id}`);
    expect(body.request).toMatchObject({
      headers: { 'x-api-key': '***', accept: 'text/plain' },
      body: { ...request.body, api_key: '***' },
      omitted: null,
    });
    expect(body.response.omitted).toBe('cut');
    expect(body.response.body).toContain('{"data":[{"embedding":null}],"note":"xxx');
    expect(body.response.body).toHaveLength(1_024);
    await plane.ask('PUT', '/organisations/self', { body: { settings: { debug_log: 0 } } });
    const silent = await insert({ request, response });
    const notStored = { headers: {}, body: null, omitted: 'not_stored' };
    const { body: left } = await plane.ask('GET', `/logs/${silent.id}`);
    expect(left).toMatchObject({ request: notStored, response: notStored });
    await plane.ask('PUT', '/organisations/self', { body: { settings: { debug_log_error_body: 1 } } });
    const [good, failed] = [
      await insert({ request, response }),
      await insert({ request, response: { ...response, status: 400 } }),
    ];
    expect((await plane.ask('GET', `/logs/${good.id}`)).body.response).toMatchObject(notStored);
    const log = (await plane.ask('GET', `/logs/${failed.id}`)).body;
    expect(log.request).toMatchObject(notStored);
    expect(log.response).toMatchObject({ headers: {}, body: expect.stringContaining('xxx'), omitted: 'cut' });
    await plane.ask('PUT', '/organisations/self', { body: { settings: { debug_log: 1, debug_log_error_body: 0 } } });
  });

  it('are found by their words in pages that follow the cursor, within the tenant and the filters', async () => {
    const [first, second] = [await store('A Green Elephant walks'), await store('the green ELEPHANT sleeps')];
    const other = await plane.newTenant();
    const search = async (query: string, key = plane.adminKey) =>
      (await plane.ask('GET', `/logs?${query}`, { key })).body as { data: { _id: string }[]; next_cursor: string | null };
    const idsOf = ({ data }: { data: { _id: string }[] }) => data.map(({ _id }) => _id);
    expect(idsOf(await search('search=elephant%20GREEN')).sort()).toEqual([first.id, second.id].sort());
    expect(idsOf(await search('search=elephant%20walks'))).toEqual([first.id]);
    // Names of fields are not searched.
    expect(idsOf(await search('search=content-type'))).toEqual([]);
    expect(idsOf(await search('search=elephant&ai_model=none'))).toEqual([]);
    expect(idsOf(await search('search=elephant', other.adminKey))).toEqual([]);
    const page = await search('search=elephant&page_size=1');
    const rest = await search(`search=elephant&page_size=1&cursor=${page.next_cursor}`);
    expect([...idsOf(page), ...idsOf(rest)].sort()).toEqual([first.id, second.id].sort());
    for (const wrong of ['search=ab', 'search=elephant&include_total=true', 'search=elephant&current_page=1']) {
      const refused = await plane.ask('GET', `/logs?${wrong}`);
      expect(refused.status).toBe(400);
      expect(refused.body.data.message).toContain('search: ');
    }
  });

  it('are found in pages that end in time, however many values the bodies have', async () => {
    const { organisationId, workspaceId } = plane;
    const side = (body: unknown) => ({ headers: {}, body, omitted: null });
    const values = Array.from({ length: 100_000 }, () => 'b');
    const createdAt = (i: number) => new Date(Date.now() - 1_000 * i).toISOString();
    const records = Array.from({ length: 60 }, (_, i) => sampleRecord({ organisationId, workspaceId, createdAt: createdAt(i) }));
    const needle = records.at(-1) as (typeof records)[number];
    for (const record of records) {
      const { id, createdAt } = record;
      const body = record === needle ? [...values, 'a mammoth'] : values;
      const content = { id, createdAt, organisationId, workspaceId, request: side(body), response: side('short') };
      await plane.internal('POST', '/records', [record]);
      expect(await plane.internal('POST', '/record-contents', [content])).toMatchObject({ status: 200 });
    }
    const found: string[] = [];
    let cursor = '';
    do {
      const beganMs = performance.now();
      const { status, body } = await plane.ask('GET', `/logs?search=mammoth${cursor}`);
      // The deadline of requests, which is longer in tests.
      expect([status, performance.now() - beganMs < 2_800]).toEqual([200, true]);
      found.push(...body.data.map(({ _id }: { _id: string }) => _id));
      cursor = body.next_cursor && `&cursor=${body.next_cursor}`;
    } while (cursor);
    expect(found).toEqual([needle.id]);
  });

  it('are exported with the fields request and response', async () => {
    const content = await store('exported text');
    const body = {
      filters: { trace_id: 'unused' },
      requested_data: ['id', 'request', 'response'],
      workspace_id: plane.workspaceId,
    };
    const { traceId } = (
      await em().execute<[{ traceId: string }]>('select trace_id as "traceId" from request_records where id = ?', [content.id])
    )[0];
    const exported = async (format: string) => {
      const made = await plane.ask('POST', '/logs/exports', { body: { ...body, format, filters: { trace_id: traceId } } });
      await plane.ask('POST', `/logs/exports/${made.body.id}/start`);
      await until(async () => (await plane.ask('GET', `/logs/exports/${made.body.id}`)).body.status === 'success');
      const { pathname, search } = new URL((await plane.ask('GET', `/logs/exports/${made.body.id}/download`)).body.signed_url);
      return fetch(`${plane.url}${pathname}${search}`);
    };
    const expected = { id: content.id, request: content.request, response: content.response };
    expect(await (await exported('jsonl')).json()).toMatchObject(expected);
    const compressors = { ZSTD: (input: Uint8Array) => new Uint8Array(zstdDecompressSync(input)) };
    const rows = await parquetReadObjects({ file: await (await exported('parquet')).arrayBuffer(), compressors });
    expect(rows).toMatchObject([expected]);
    await em().execute('update record_contents set content = substring(content from 1 for 20) where id = ?', [content.id]);
    expect(await (await exported('jsonl')).json()).toMatchObject({
      id: content.id,
      request: { body: null, omitted: 'unreadable' },
    });
  });

  it.each([
    ['another operation', { endpoint: 'createSpeech' }, true, 'endpoint: '],
    ['no stored body', {}, false, 'request.body: '],
  ])('replay: refused for %s', async (_what, changes, hasContent, field) => {
    const { organisationId, workspaceId } = plane;
    const record = sampleRecord({ organisationId, workspaceId, ...changes });
    await plane.internal('POST', '/records', [record]);
    const side = { headers: {}, body: { model: 'm' }, omitted: null };
    const content = { id: record.id, createdAt: record.createdAt, organisationId, workspaceId, request: side, response: side };
    if (hasContent) await plane.internal('POST', '/record-contents', [content]);
    const key = await plane.newKey(['completions.write']);
    const refused = await plane.ask('POST', `/logs/${record.id}/replay`, { key, body: {} });
    expect([refused.status, refused.body.data.error_code ?? refused.body.data.errorCode]).toEqual([409, 'AB07']);
    expect(refused.body.data.message).toContain(field);
  });

  it('replay: refused for a masked credential, a body that was cut, and a log of another tenant', async () => {
    const { organisationId, workspaceId } = plane;
    const key = await plane.newKey(['completions.write']);
    const replay = async (request: object, as = key) => {
      const record = sampleRecord({ organisationId, workspaceId });
      const response = { headers: {}, body: null, omitted: null };
      const content = { id: record.id, createdAt: record.createdAt, organisationId, workspaceId, request, response };
      await plane.internal('POST', '/records', [record]);
      await plane.internal('POST', '/record-contents', [content]);
      return plane.ask('POST', `/logs/${record.id}/replay`, { key: as, body: {} });
    };
    const headers = { 'x-svc-config': '{"api_key":"***"}' };
    const masked = await replay({ headers, body: { model: 'm' }, omitted: null });
    expect(masked.body.data.message).toContain('request.headers.x-svc-config: ');
    const cut = await replay({ headers: {}, body: '{"mod', omitted: 'cut' });
    expect(cut.body.data.message).toContain('request.body: ');
    const other = await plane.newTenant();
    expect((await replay({ headers: {}, body: {}, omitted: null }, other.workspaceKey)).status).toBe(404);
  });

  it('replay: may be repeated with the same idempotency-key if no gateway accepted it', async () => {
    const content = await store('replayed twice');
    const key = await plane.newKey(['completions.write']);
    const ask = { key, body: {}, headers: { 'idempotency-key': 'again' } };
    const statuses = [];
    for (let n = 0; n < 2; n++) statuses.push((await plane.ask('POST', `/logs/${content.id}/replay`, ask)).status);
    expect(statuses).toEqual([503, 503]);
  });

  it('replay: is not repeated if its reply was lost, because a provider may have been called', async () => {
    const gateway = createServer((socket) => socket.once('data', () => socket.destroy())).listen(0, '127.0.0.1');
    await once(gateway, 'listening');
    const { port } = gateway.address() as AddressInfo;
    const lossy = await startPlane(name, { LOG_BODIES: 'database', GATEWAY_URL: `http://127.0.0.1:${port}` });
    try {
      const content = await store('replayed once', lossy);
      const key = await lossy.newKey(['completions.write']);
      const ask = { key, body: {}, headers: { 'idempotency-key': 'lost' } };
      const statuses = [];
      for (let n = 0; n < 2; n++) statuses.push((await lossy.ask('POST', `/logs/${content.id}/replay`, ask)).status);
      expect(statuses).toEqual([503, 409]);
    } finally {
      await lossy.close();
      gateway.close();
    }
  });

  it('are rejected if their form is wrong, with the name of the field', async () => {
    const content = await store('valid');
    const wrong = await plane.internal('POST', '/record-contents', [{ ...content, organisationId: 'x' }]);
    expect(wrong.status).toBe(400);
    expect(JSON.stringify(wrong.body)).toContain('organisationId');
    expect(
      (
        await plane.internal(
          'POST',
          '/record-contents',
          Array.from({ length: 101 }, () => content),
        )
      ).status,
    ).toBe(400);
  });
});

describe.each(databases)('search without stored bodies, on %s', (name) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(name);
  });
  afterAll(() => plane?.close());

  it('is rejected with the setting that stores bodies, unless earlier ones match', async () => {
    const { organisationId, workspaceId } = plane;
    const record = sampleRecord({ organisationId, workspaceId });
    const side = { headers: {}, body: { text: 'a grey elephant' }, omitted: null };
    await plane.internal('POST', '/records', [record]);
    const content = { id: record.id, createdAt: record.createdAt, organisationId, workspaceId, request: side, response: side };
    expect(await plane.internal('POST', '/record-contents', [content])).toMatchObject({ status: 200 });
    const found = await plane.ask('GET', '/logs?search=elephant');
    expect([found.status, found.body.data.length]).toEqual([200, 1]);
    const refused = await plane.ask('GET', '/logs?search=giraffe');
    expect(refused.status).toBe(400);
    expect(refused.body.data.message).toContain('search: nothing found, because LOG_BODIES is off');
    expect((await plane.ask('GET', '/logs')).status).toBe(200);
  });
});

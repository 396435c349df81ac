import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestRecords } from '../../../admin/resources/logs/entity.ts';
import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { databases } from '../support/test-database.ts';

describe.each(databases)('request records, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const record = (changes: Partial<RequestRecord> = {}) =>
    sampleRecord({ organisationId: plane.organisationId, workspaceId: plane.workspaceId, apiKeyId: null, ...changes });
  const store = async (batch: unknown) => (await plane.internal('POST', '/records', batch)).body;
  const row = (id: string) => plane.control.services.database.em().findOneOrFail(requestRecords, { id });

  it('stores each record once, however often it is sent, in one batch or several', async () => {
    const batch = [record(), record(), record()];
    expect(await store(batch)).toEqual({ inserted: 3, duplicates: 0, rejected: [] });
    expect(await store(batch)).toEqual({ inserted: 0, duplicates: 3, rejected: [] });
    const twice = record();
    expect(await store([twice, batch[0], twice])).toEqual({ inserted: 1, duplicates: 2, rejected: [] });
    expect((await row(twice.id)).record).toEqual(twice);
  });

  it('stores a batch sent twice at the same time once', async () => {
    const batch = Array.from({ length: 200 }, () => record());
    const [a, b] = await Promise.all([store(batch), store([...batch].reverse())]);
    expect(a.inserted + b.inserted).toBe(200);
    expect(a.duplicates + b.duplicates).toBe(200);
  });

  it('sets malformed records aside and stores their neighbours', async () => {
    const good = record();
    const bad = [
      { ...record(), status: 'ok' },
      { ...record(), organisationId: 'not-a-uuid' },
      { ...record(), createdAt: 'yesterday' },
      { id: 5 },
      null,
    ];
    const ids = bad.map((one) => (one && 'id' in one && typeof one.id === 'string' ? one.id : ''));
    expect(await store([bad[0], good, ...bad.slice(1)])).toEqual({ inserted: 1, duplicates: 0, rejected: ids });
    // Valid JSON, but too large for the column.
    const huge = record({ status: 99_999_999_999 });
    const other = record();
    expect(await store([huge, other])).toEqual({ inserted: 1, duplicates: 0, rejected: [huge.id] });
    const reasons = plane.log.lines
      .filter(({ message }) => message === 'could not store records')
      .map(({ fields }) => fields.reasons);
    expect(reasons.slice(-2)).toEqual([
      [
        'status: expected number, received string',
        'organisationId: expected a UUID or null',
        'createdAt: expected a time',
        'id: expected string, received number',
        'record: expected object, received null',
      ],
      ['the database rejected it with code 22003'],
    ]);
  });

  it('keeps records whose text the database cannot hold, with that text replaced', async () => {
    const odd = record({ path: '/v1/a\u0000b\ud800c\u{1f600}d\\u0000', metadata: { k: '\u0000' } });
    expect(await store([odd])).toMatchObject({ inserted: 1, rejected: [] });
    expect((await row(odd.id)).record.path).toBe('/v1/a\ufffdb\ufffdc\u{1f600}d\\u0000');
  });

  it('accepts records of requests with unknown keys', async () => {
    const unknown = record({
      organisationId: null,
      workspaceId: null,
      outcome: 'refused',
      status: 401,
      provider: null,
      model: null,
    });
    expect(await store([unknown])).toMatchObject({ inserted: 1 });
    expect((await row(unknown.id)).organisationId).toBeNull();
    expect((await plane.ask('GET', `/logs/${unknown.id}`)).status).toBe(404);
  });

  it('adds the public price to a record to the nano-USD, and null if there is none', async () => {
    const usage = { inputTokens: 900_000, cacheReadTokens: 100_000, outputTokens: 1_000_000 };
    const priced = record({ provider: 'openai', model: 'gpt-4o-mini', ...usage });
    const free = record({ provider: 'openai', model: 'gpt-4o-mini', inputTokens: 0, outputTokens: 0 });
    const unknown = record({ provider: 'mock', model: 'echo' });
    const nonsense = record({ provider: 'openai', model: 'no-such-model-at-all' });
    const small = record({ provider: 'openai', model: 'text-embedding-3-small', inputTokens: 3, outputTokens: 0 });
    await store([priced, free, unknown, nonsense, small]);
    // USD per million tokens: 0.15 for input, 0.075 for cached input, 0.60 for output.
    expect(await row(priced.id)).toMatchObject({ costMicroUsd: 135_000 + 7_500 + 600_000, costNanoRest: 0 });
    // 0.02 USD per million tokens: 60 nano-USD, or 0.000006 cents.
    expect(await row(small.id)).toMatchObject({ costMicroUsd: 0, costNanoRest: 60 });
    const { metrics } = (await plane.ask('GET', `/logs/${small.id}`)).body;
    expect(metrics).toMatchObject({ cost: 0.000006, cost_currency: 'USD', cost_unit: 'cent' });
    expect((await row(free.id)).costMicroUsd).toBe(0);
    expect((await row(unknown.id)).costMicroUsd).toBeNull();
    expect((await row(nonsense.id)).costMicroUsd).toBeNull();
  });

  it('adds what a cached reply saved: the price of the call that it repeats', async () => {
    const saved = {
      ...{ provider: 'openai', providerSlug: null, model: 'text-embedding-3-small', inputTokens: 3, cacheReadTokens: 0 },
      ...{ cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 },
    };
    const hit = record({ cacheStatus: 'HIT', inputTokens: 0, outputTokens: 0, saved });
    const unpriced = record({ cacheStatus: 'HIT', saved: { ...saved, model: 'no-such-model-at-all' } });
    const call = record();
    await store([hit, unpriced, call]);
    expect(await row(hit.id)).toMatchObject({ costMicroUsd: 0, costNanoRest: 0, savedNano: 60 });
    const metrics = async (id: string) => (await plane.ask('GET', `/logs/${id}`)).body.metrics;
    expect(await metrics(hit.id)).toMatchObject({ cost: 0, saved_cost: 0.000006, cache_status: 'HIT' });
    expect([(await metrics(unpriced.id)).saved_cost, (await metrics(call.id)).saved_cost]).toEqual([null, null]);
  });

  it('rejects malformed batches', async () => {
    expect((await plane.internal('POST', '/records', '{"a":')).status).toBe(400);
    expect((await plane.internal('POST', '/records', {})).status).toBe(400);
    expect(
      (
        await plane.internal(
          'POST',
          '/records',
          Array.from({ length: 1_001 }, () => 0),
        )
      ).status,
    ).toBe(400);
    expect((await plane.internal('POST', '/records', JSON.stringify(['x'.repeat(4_300_000)]))).status).toBe(413);
    expect(await store([])).toEqual({ inserted: 0, duplicates: 0, rejected: [] });
  });

  it('returns records by id and trace, only to their own tenant', async () => {
    const traceId = `trace-${randomUUID()}`;
    const first = record({ traceId, createdAt: '2026-01-01T00:00:00.000Z' });
    const second = record({
      traceId,
      createdAt: '2026-01-01T00:00:01.000Z',
      targetPath: 'config.targets[1]',
      model: 'gpt-4o-mini',
    });
    await store([second, first]);
    const log = (await plane.ask('GET', `/logs/${traceId}`, { key: plane.workspaceKey })).body;
    expect(log).toMatchObject({
      _id: second.id,
      request: { method: 'POST', headers: {}, body: null },
      response: { status: 200, responseTime: 14, lastUsedOptionJsonPath: 'config.targets[1]', body: null },
      organisation_id: plane.organisationId,
      created_at: '2026-01-01T00:00:01.000Z',
      metrics: {
        id: second.id,
        organisation_name: 'Default organisation',
        workspace_slug: 'ws-default',
        ai_org: 'openai',
        ai_model: 'gpt-4o-mini',
        req_units: 120,
        res_units: 45,
        total_units: 165,
        usage_source: 'provider',
        cost_currency: 'USD',
        is_success: true,
        trace_id: traceId,
        last_used_option_index: 1,
        'metadata.key': ['team'],
        'metadata.value': ['a'],
      },
    });
    expect(log.request.url).toMatch(/\/v1\/chat\/completions$/);
    // 120 × 0.15 + 45 × 0.60 micro-USD, in cents.
    expect(log.metrics.cost).toBe(0.0045);
    expect((await plane.ask('GET', `/logs/${first.id}`)).body._id).toBe(first.id);
    const list = (await plane.ask('GET', `/logs?trace_id=${traceId}`)).body;
    expect(list).toMatchObject({ object: 'list', total: null, has_more: false });
    expect(list.data.map((one: { _id: string }) => one._id)).toEqual([second.id, first.id]);

    const other = await plane.newTenant();
    for (const key of [other.adminKey, other.workspaceKey]) {
      expect((await plane.ask('GET', `/logs/${first.id}`, { key })).status).toBe(404);
      expect((await plane.ask('GET', `/logs/${traceId}`, { key })).status).toBe(404);
      expect((await plane.ask('GET', `/logs?trace_id=${traceId}`, { key })).body.data).toEqual([]);
    }
    const blind = await plane.newKey(['configs.list']);
    expect((await plane.ask('GET', `/logs/${first.id}`, { key: blind })).status).toBe(403);
  });
});

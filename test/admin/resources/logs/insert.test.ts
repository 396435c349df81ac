import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabase } from '../../support/test-database.ts';

const request = {
  url: 'https://api.openai.com/v1/chat/completions?key=hidden',
  provider: 'openai',
  body: { model: 'gpt-4o-mini' },
};
const response = { body: { usage: { prompt_tokens: 120, completion_tokens: 45, prompt_tokens_details: { cached_tokens: 20 } } } };

describe('inserted logs', () => {
  let plane: Plane;
  let key: string;
  beforeAll(async () => {
    plane = await startPlane(ruleDatabase, { LOG_BODIES: 'database' });
    key = await plane.newKey(['logs.write', 'completions.write', 'logs.list']);
  });
  afterAll(() => plane?.close());

  const insert = (body: unknown, as = key) => plane.ask('POST', '/logs', { key: as, body });
  it('are rejected if they ask to be counted in budgets, which count calls through the gateway only', async () => {
    const ask = (value: string) =>
      plane.ask('POST', '/logs', { key, body: { request, response }, headers: { 'x-svc-override-service-log-usage': value } });
    await expectRefusal(plane, () => ask('true'), 400, 'AB01', true);
    expect((await ask('false')).status).toBe(200);
  });

  async function inserted(body: object) {
    const { status, body: reply } = await insert(body);
    expect(status, JSON.stringify(reply)).toBe(200);
    const log = await plane.ask('GET', `/logs/${reply.log_ids[0]}`);
    expect(log.status, JSON.stringify(log.body)).toBe(200);
    return log.body;
  }

  it('are priced and shown like others, and belong to the workspace of the key', async () => {
    const metadata = { trace_id: 'their-trace', spanId: 's-1', span_name: 'step', _user: 'u1', retries: 2 };
    const log = await inserted({ request, response: { ...response, response_time: 250 }, metadata });
    expect(log.request).toMatchObject({ url: 'https://api.openai.com/v1/chat/completions', method: 'POST' });
    expect(log.metrics).toMatchObject({
      ...{ ai_org: 'openai', ai_model: 'gpt-4o-mini', mode: 'chatComplete', source: 'custom', is_success: true },
      ...{ response_status_code: 200, response_time: 250, trace_id: 'their-trace', span_id: 's-1', span_name: 'step' },
      ...{ req_units: 120, res_units: 45, price_source: 'public', workspace_slug: 'ws-default' },
      ...{ 'metadata.key': ['_user', 'retries'], 'metadata.value': ['u1', '2'] },
    });
    expect(log.metrics.cost).toBeGreaterThan(0);
  });

  it('get a trace id if the sent one is empty', async () => {
    const { metrics } = await inserted({ request, response, metadata: { trace_id: '', traceId: 'theirs' } });
    expect(metrics.trace_id).toBe('theirs');
    const other = await inserted({ request, response, metadata: { trace_id: '' } });
    expect(other.metrics.trace_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('are stored if a long model name is cut in the middle of an emoji', async () => {
    const { metrics } = await inserted({ request: { ...request, body: { model: `${'m'.repeat(254)}😀` } }, response });
    expect(metrics.ai_model).toBe('m'.repeat(254));
  });

  it.each([
    [
      'Anthropic',
      { usage: { input_tokens: 10, cache_read_input_tokens: 5, cache_creation_input_tokens: 3, output_tokens: 2 } },
      18,
      2,
    ],
    ['Gemini', { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, thoughtsTokenCount: 4 } }, 10, 6],
    ['no usage', {}, 0, 0],
    ['an invalid usage', { usage: { prompt_tokens: -5, completion_tokens: 'many' } }, 0, 0],
  ])('read the usage of %s', async (_what, body, input, output) => {
    const { metrics } = await inserted({ request: { ...request, provider: undefined }, response: { status: 500, body } });
    expect(metrics).toMatchObject({ req_units: input, res_units: output, is_success: false, cost: null });
  });

  it('are stored once with an idempotency-key, also if requests are concurrent', async () => {
    const send = (trace_id: string) =>
      plane.ask('POST', '/logs', {
        ...{ key, headers: { 'idempotency-key': 'logs-1' } },
        body: [0, 1].map(() => ({ request, response, metadata: { trace_id } })),
      });
    const replies = await Promise.all([send('repeated'), send('repeated'), send('repeated')]);
    const again = await send('repeated');
    for (const { status, body } of replies) expect([status, body]).toEqual([200, again.body]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect((await plane.ask('GET', '/logs?trace_id=repeated')).body.data).toHaveLength(2);
    await expectRefusal(plane, () => send('other'), 422, 'AB01', true);
  });

  it('are not stored without their bodies, so that a request that failed can be sent again with its idempotency-key', async () => {
    const { database } = plane.control.services;
    const send = () =>
      plane.ask('POST', '/logs', {
        ...{ key, headers: { 'idempotency-key': 'logs-2' } },
        body: { request, response, metadata: { trace_id: 'once' } },
      });
    await database.em().execute('alter table record_contents rename to missing_contents');
    const failed = await send();
    await database.em().execute('alter table missing_contents rename to record_contents');
    expect([failed.status, (await plane.ask('GET', '/logs?trace_id=once')).body.data]).toEqual([500, []]);
    const { status, body } = await send();
    const stored = await plane.ask('GET', `/logs/${body.log_ids[0]}`);
    expect([status, stored.body.request.body]).toEqual([200, request.body]);
    expect((await plane.ask('GET', '/logs?trace_id=once')).body.data).toHaveLength(1);
  });

  it('can be many in one request, and are not counted in budgets', async () => {
    const limits = { usage_limits: { type: 'cost', credit_limit: 1 } };
    const made = await plane.ask('POST', '/api-keys/workspace/service', {
      body: { name: 'B', scopes: ['logs.write', 'completions.write'], workspace_id: plane.workspaceId, ...limits },
    });
    const one = { request: { ...request, method: 'post' }, response, metadata: { trace_id: 'many' } };
    expect((await insert(Array(3).fill(one), made.body.key)).body.log_ids).toHaveLength(3);
    expect((await plane.ask('GET', '/logs?trace_id=many')).body.data).toHaveLength(3);
    const read = await plane.ask('GET', `/api-keys/${made.body.id}?include_usage=true`);
    expect(read.body.usage_limits.current_usage ?? 0).toBe(0);
  });

  it.each([
    ['no request', { response }, 'request'],
    ['a URL that is none', { request: { ...request, url: 'openai' }, response }, 'request.url'],
    ['a body that is a text', { request: { ...request, body: 'x' }, response }, 'request.body'],
    ['a status that is none', { request, response: { ...response, status: 42 } }, 'response.status'],
    ['an unknown method', { request: { ...request, method: 'TRACE' }, response }, 'request.method'],
    ['metadata that is nested', { request, response, metadata: { a: { b: 1 } } }, 'metadata.a'],
    ['an unknown field', { request, response, cost: 5 }, 'cost'],
    ['a list without a log', [], 'body'],
    ['a list with an invalid log', [{ request, response }, { request }], '[1].response'],
  ])('are rejected for %s', async (_what, body, field) => {
    const reply = await expectRefusal(plane, () => insert(body), 400, 'AB01', true);
    expect(reply.body.data.errors.join('; ')).toContain(field);
  });

  it('are refused if an entry of a list names another tenant, or entries name different workspaces; so is feedback', async () => {
    const other = await plane.ask('POST', '/workspaces', { body: { name: 'Other' } });
    const lists = [
      ['/logs', { request, response }, key],
      ['/feedback', { trace_id: 'listed', value: 1 }, plane.workspaceKey],
    ] as const;
    for (const [path, one, as] of lists) {
      const send = (...tenants: object[]) =>
        plane.ask('POST', path, { key: as, body: tenants.map((tenant) => ({ ...one, ...tenant })) });
      const own = { workspace_id: plane.workspaceId };
      const foreign = { workspace_id: other.body.id };
      expect((await send(own, {}, own)).status).toBe(200);
      await expectRefusal(plane, () => send(foreign), 403, 'AB03', true);
      await expectRefusal(plane, () => send({}, { organisation_id: crypto.randomUUID() }), 404, 'AB08', true);
      const mixed = await expectRefusal(plane, () => send(own, foreign), 400, 'AB01', true);
      expect(mixed.body.data.message).toContain('workspace_id: the request contains different values');
    }
  });

  it('need both scopes', async () => {
    for (const scopes of [['logs.write'], ['completions.write']]) {
      const other = await plane.newKey(scopes);
      await expectRefusal(plane, () => insert({ request, response }, other), 403, 'AB03', true);
    }
    await expectRefusal(plane, () => insert({ request, response }, plane.adminKey), 403, 'AB03', true);
  });
});

import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newReadyDatabase, ruleDatabases } from '../../admin/support/test-database.ts';
import { type GatewayWithUpstream, startGatewayWithUpstream } from '../../support/product/gateway-with-upstream.ts';
import { until } from '../../support/until.ts';
import { reply } from '../../support/upstream/fake-upstream.ts';

describe.each(ruleDatabases)('costs of batches, on %s', (name) => {
  let gateway: GatewayWithUpstream;
  let database: Awaited<ReturnType<typeof newReadyDatabase>> | null = null;
  const wanted = { endpoint: '/v1/chat/completions', completion_window: '24h' } as const;
  const deadlineMs = 45_000;

  beforeAll(async () => {
    database = name === 'PostgreSQL' ? await newReadyDatabase() : null;
    const url: Record<string, string> = database ? { DATABASE_URL: database.url } : {};
    gateway = await startGatewayWithUpstream({
      env: { BATCH_POLL_INTERVAL: '20', BATCH_INTERVAL: '20', JOB_LEASE: '3000', ...url },
    });
    const price = (input: number, output: number) => ({
      pay_as_you_go: { request_token: { price: input }, response_token: { price: output } },
    });
    const models = [
      { slug: 'dear', enabled: true, pricing_config: { type: 'static', ...price(1_000, 2_000) } },
      { slug: 'own', enabled: true, pricing_config: { type: 'static', ...price(1_000, 2_000), batch_config: price(100, 300) } },
    ];
    const put = await gateway.admin.put('/integrations/int-oai/models', { models } as never);
    expect(put.status, JSON.stringify(put.body)).toBe(200);
  });
  afterAll(async () => {
    await gateway?.close();
    await database?.drop();
  });
  afterEach(() => gateway?.upstream.reset());

  const json = (body: object) => reply(200, body as never);
  const line = (id: string, model: string) => ({
    ...{ custom_id: id, method: 'POST', url: wanted.endpoint },
    body: { model, messages: [{ role: 'user', content: id }] },
  });
  const replied = (id: string, model: string, input: number, output: number) => ({
    ...{ id: `r-${id}`, custom_id: id, error: null },
    response: {
      status_code: 200,
      body: {
        ...{ id: 'c', object: 'chat.completion', created: 1, model, choices: [] },
        usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
      },
    },
  });
  const jsonl = (lines: readonly object[]) =>
    reply(200, lines.map((one) => JSON.stringify(one)).join('\n'), { 'content-type': 'application/jsonl' });

  /** A batch at the upstream that goes through `states` and then ends. */
  function provide(id: string, input: readonly object[], output: readonly object[], states: readonly string[]): void {
    const { upstream } = gateway;
    const files = { input_file_id: `in-${id}`, output_file_id: `out-${id}`, error_file_id: null };
    const batch = { id, object: 'batch', endpoint: wanted.endpoint, status: 'completed', ...files };
    upstream.on('/v1/batches', json({ ...batch, status: 'validating', output_file_id: null }));
    upstream.on(`/v1/batches/${id}`, json(batch));
    for (const status of [...states].reverse())
      upstream.once(`/v1/batches/${id}`, json({ ...batch, status, output_file_id: null }));
    upstream.on(`/v1/files/in-${id}/content`, jsonl(input));
    upstream.on(`/v1/files/out-${id}/content`, jsonl(output));
  }

  async function create(id: string, apiKey = gateway.workspaceKey) {
    const traceId = `trace-${name}-${id}`;
    const defaultHeaders = { 'x-svc-provider': '@oai', 'x-svc-trace-id': traceId };
    const client = new OpenAI({ baseURL: gateway.baseUrl, apiKey, maxRetries: 0, defaultHeaders });
    const made = await client.batches.create({ input_file_id: `in-${id}`, ...wanted });
    expect(made).toMatchObject({ id, status: 'validating' });
    return { traceId, client };
  }

  interface Log {
    readonly batch: { readonly part: string } | null;
    // biome-ignore lint/suspicious/noExplicitAny: tests read many fields
    readonly metrics: any;
  }

  /** The records of a trace, or of a part of it, once there are this many. */
  const logsOf = (traceId: string, count: number, part: string | null = null) =>
    until(
      async () => {
        const { body } = await gateway.admin.get(`/logs?trace_id=${encodeURIComponent(traceId)}`);
        const found = (body.data as Log[]).filter((log) => part === null || log.batch?.part === part);
        return found.length >= count && (found as [Log, ...Log[]]);
      },
      { what: `${count} records of ${traceId}`, deadlineMs },
    );
  /** The cost records of a batch. */
  const costs = (traceId: string, count: number) => logsOf(traceId, count, 'result');

  it('are recorded after a provider has run them, by requested model, at half the price', async () => {
    const output = [
      replied('a', 'dear-2026-01-01', 10, 5),
      replied('b', 'dear-2026-01-01', 20, 5),
      replied('c', 'own', 100, 10),
      { id: 'r-d', custom_id: 'd', response: { status_code: 400, body: { error: {} } }, error: null },
    ];
    provide('batch_1', [line('a', 'dear'), line('b', 'dear'), line('c', 'own'), line('d', 'own')], output, [
      'validating',
      'in_progress',
      'finalizing',
    ]);
    const { traceId, client } = await create('batch_1');
    const found = await costs(traceId, 2);
    const [dear, own] = ['dear', 'own'].map((model) => found.find((log) => log.metrics.ai_model === model)) as [Log, Log];
    expect(dear.batch).toEqual({ id: 'batch_1', part: 'result', requests: 2 });
    expect(dear.metrics).toMatchObject({ req_units: 30, res_units: 10, price_source: 'model', mode: 'chatComplete' });
    // 30 × $0.001 + 10 × $0.002, halved, in cents.
    expect(dear.metrics.cost).toBeCloseTo(2.5, 6);
    expect(dear.metrics).toMatchObject({ virtual_key: 'oai', ai_org: 'openai', is_success: true });
    // Prices saved for batches are not halved: 100 × $0.0001 + 10 × $0.0003.
    expect(own.metrics.cost).toBeCloseTo(1.3, 6);
    for (let i = 0; i < 2; i++) await client.get('/batches/batch_1/output', { __binaryResponse: true });
    expect(await costs(traceId, 2)).toHaveLength(2);
    const [made] = await logsOf(traceId, 1, 'made');
    expect(made.batch).toEqual({ id: 'batch_1', part: 'made', requests: 0 });
  });

  it('count against budgets, which then reject the next call', async () => {
    const made = await gateway.admin.post('/api-keys/workspace/service', {
      ...{ name: 'budget', workspace_id: gateway.workspaceId, scopes: ['completions.write', 'virtual_keys.list'] },
      usage_limits: { type: 'cost', credit_limit: 1 },
    });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    provide('batch_2', [line('a', 'dear')], [replied('a', 'dear', 4_000, 5)], []);
    const { traceId } = await create('batch_2', made.body.key);
    expect((await costs(traceId, 1))[0].metrics.cost).toBeCloseTo(200.5, 6);
    const call = () =>
      gateway.call('/chat/completions', {
        headers: { 'x-svc-api-key': made.body.key, 'x-svc-provider': '@oai' },
        body: { model: 'dear', messages: [{ role: 'user', content: 'x' }], max_tokens: 1 },
      });
    await until(async () => (await call()).status === 412, { what: 'the exhausted budget', deadlineMs });
  });

  it('are read from batches in other formats than OpenAI’s too', async () => {
    const { upstream } = gateway;
    const counts = { processing: 0, succeeded: 1, errored: 0, canceled: 0, expired: 0 };
    const ended = { id: 'msgbatch_1', processing_status: 'ended', created_at: '2026-01-01T00:00:00Z', request_counts: counts };
    upstream.on('/v1/messages/batches', json({ ...ended, processing_status: 'in_progress' }));
    upstream.on('/v1/messages/batches/msgbatch_1', json(ended));
    const message = {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content: [], stop_reason: 'end_turn' },
      usage: { input_tokens: 1_000, output_tokens: 100 },
    };
    upstream.on('/v1/messages/batches/msgbatch_1/results', jsonl([{ custom_id: 'a', result: { type: 'succeeded', message } }]));
    const traceId = `trace-${name}-ant`;
    const defaultHeaders = { 'x-svc-provider': '@ant', 'x-svc-trace-id': traceId };
    const client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: gateway.workspaceKey, maxRetries: 0, defaultHeaders });
    const text = JSON.stringify(line('a', 'claude-sonnet-4-5'));
    const file = await client.files.create({ file: new File([text], 'in.jsonl'), purpose: 'batch' });
    await client.batches.create({ input_file_id: file.id, ...wanted });
    const [cost] = await costs(traceId, 1);
    // $3 and $15 per million tokens, halved.
    expect(cost.metrics.cost).toBeCloseTo(0.225, 6);
    expect(cost.metrics).toMatchObject({ ai_org: 'anthropic', price_source: 'public', req_units: 1_000 });
  });

  it('are the usual price, line by line, if the service runs them', async () => {
    const client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: gateway.workspaceKey, maxRetries: 0 });
    const file = await client.files.create({
      file: new File([JSON.stringify(line('a', '@oai/dear'))], 'in.jsonl'),
      purpose: 'batch',
    });
    const body = { input_file_id: file.id, endpoint: wanted.endpoint, completion_window: 'immediate' };
    const { id } = await client.batches.create(body as never);
    const [log] = await logsOf(id, 1);
    expect(log.batch).toEqual({ id, part: 'line', requests: 1 });
    const { req_units: input, res_units: output, cost } = log.metrics;
    expect(cost).toBeCloseTo(0.1 * input + 0.2 * output, 8);
  });

  it('cannot be claimed by a caller: a trace id makes no line of a batch', async () => {
    const traceId = `svc_batch_not-one-${name}`;
    await gateway.call('/chat/completions', {
      headers: { 'x-svc-provider': '@oai', 'x-svc-trace-id': traceId },
      body: { model: 'dear', messages: [{ role: 'user', content: 'x' }] },
    });
    const [log] = await logsOf(traceId, 1);
    expect(log.batch).toBeNull();
  });

  it('are recorded once, although the control plane is killed while it reads', async () => {
    const { upstream } = gateway;
    provide('batch_3', [line('a', 'dear')], [replied('a', 'dear', 10, 5)], []);
    let asked = 0;
    let hang = (): void => {};
    const hangs = new Promise<void>((resolve) => {
      hang = resolve;
    });
    upstream.once('/v1/files/out-batch_3/content', {
      when: 'head',
      run: () => {
        asked++;
        hang();
        return new Promise<void>(() => {});
      },
    });
    const { traceId } = await create('batch_3');
    await hangs;
    for (const pid of gateway.pidsOf('control-plane')) process.kill(pid, 'SIGKILL');
    expect(await costs(traceId, 1)).toHaveLength(1);
    expect(asked).toBe(1);
  }, 120_000);
});

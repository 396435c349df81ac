import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RealtimeGateway, realtimePath, startRealtimeGateway } from '../../support/product/realtime-gateway.ts';
import type { RunningGateway } from '../../support/product/start-gateway.ts';
import { until, within } from '../../support/until.ts';

let realtime: RealtimeGateway<RunningGateway>;
beforeAll(async () => {
  realtime = await startRealtimeGateway({ REALTIME_RECORD_INTERVAL: '100', GATEWAY_PROCESSES: '1' });
});
afterAll(() => realtime?.close());

const replied = (input: number, output: number): string =>
  JSON.stringify({ type: 'response.done', response: { usage: { input_tokens: input, output_tokens: output } } });

const usedOf = async (id: string): Promise<number> =>
  (await realtime.gateway.admin.get(`/api-keys/${id}?include_usage=true`)).body.usage_limits.current_usage;

it('a session ends when the budget of its key is used up, after the reply that used it', async () => {
  const { gateway, open, refusal, logOf } = realtime;
  const { key, id } = await gateway.admin.createKey({ usage_limits: { type: 'tokens', credit_limit: 10_000 } });
  const { client, session } = await open(realtimePath, { 'x-svc-api-key': key });
  for (let i = 1; i <= 3; i++) {
    session.socket.send(replied(2_000, 1_000));
    await client.received(i);
  }
  session.socket.send(replied(1_500, 500));
  expect(await within(client.closed, 'the close')).toEqual({ code: 1008, reason: 'API Key Usage Limit Exceeded' });
  expect((await session.closed).code).toBe(1001);
  expect(client.messages).toHaveLength(4);
  expect(await logOf(client)).toMatchObject({
    outcome: 'cut',
    error: { code: 'key_usage_limit' },
    session: { close_code: 1008, closed_by: 'gateway' },
    metrics: { req_units: 7_500, res_units: 3_500 },
  });
  expect(await usedOf(id)).toBe(11_000);
  expect((await refusal(realtimePath, { 'x-svc-api-key': key })).status).toBe(412);
});

it('a session ends with 1013 if a token rate limit has no units left', async () => {
  const { gateway, open } = realtime;
  const { key } = await gateway.admin.createKey({ rate_limits: [{ type: 'tokens', unit: 'rpd', value: 4_000 }] });
  const { client, session } = await open(realtimePath, { 'x-svc-api-key': key });
  session.socket.send(replied(3_000, 500));
  await client.received(1);
  session.socket.send(replied(500, 500));
  expect(await within(client.closed, 'the close')).toEqual({
    code: 1013,
    reason: 'API key rate limit exceeded: 4000 tokens per day',
  });
});

it('budgets apply to sessions on other paths too', async () => {
  const { gateway, open } = realtime;
  const { key } = await gateway.admin.createKey({ usage_limits: { type: 'tokens', credit_limit: 1_000 } });
  const { client, session } = await open('/responses', { 'x-svc-api-key': key, 'x-svc-provider': '@oai' });
  session.socket.send(replied(600, 500).replace('response.done', 'response.completed'));
  expect((await within(client.closed, 'the close')).code).toBe(1008);
});

// 10 US dollars per million output tokens.
const isUsed = { input_tokens: 0, output_tokens: 150_000 };
const transcription = { type: 'transcription', audio: { input: { transcription: { model: 'gpt-4o' } } } };
it.each<[string, string, object | null, object[]]>([
  [
    'in its responses',
    '/responses?model=gpt-4o-mini',
    null,
    [{ type: 'response.completed', response: { model: 'gpt-4o', usage: isUsed } }],
  ],
  [
    'in the first message of a client of Gemini',
    '/proxy/ws/BidiGenerateContent',
    { setup: { model: 'models/gpt-4o' } },
    [{ usageMetadata: { promptTokenCount: 0, responseTokenCount: 150_000 } }],
  ],
  [
    'in the first message, which is large, of a client of Gemini that has another model in the address',
    '/proxy/ws/BidiGenerateContent?model=gpt-4o-mini',
    { setup: { system_instruction: 'x'.repeat(300 * 1024), model: 'models/gpt-4o' } },
    [{ usageMetadata: { promptTokenCount: 0, responseTokenCount: 150_000 } }],
  ],
  [
    'in the settings of a transcription session',
    '/realtime?intent=transcription',
    null,
    [
      { type: 'session.created', session: transcription },
      { type: 'conversation.item.input_audio_transcription.completed', usage: isUsed },
    ],
  ],
])('a cost budget ends a session whose model is only %s', async (_where, path, first, events) => {
  const { gateway, open } = realtime;
  const { key } = await gateway.admin.createKey({ usage_limits: { type: 'cost', credit_limit: 1 } });
  const { client, session } = await open(path, { 'x-svc-api-key': key, 'x-svc-provider': '@oai' });
  if (first !== null) {
    const arrived = new Promise((resolve) => session.socket.once('message', resolve));
    client.socket.send(JSON.stringify(first));
    await within(arrived, 'the first message');
  }
  for (const event of events) session.socket.send(JSON.stringify(event));
  expect((await within(client.closed, 'the close')).code).toBe(1008);
  expect(client.messages).toHaveLength(events.length);
});

it('a live session of OpenAI has the model of its messages, whatever its address names', async () => {
  const { open, logOf } = realtime;
  const { client, session } = await open('/live/sessions?model=gpt-4o-mini', { 'x-svc-provider': '@oai' });
  session.socket.send(JSON.stringify({ type: 'session.started', session: { model: 'gpt-4o' } }));
  await client.received(1);
  client.socket.close(1000);
  await within(client.closed, 'the close');
  expect(await logOf(client)).toMatchObject({ metrics: { ai_model: 'gpt-4o' } });
});

it.each([
  ['cost', 1013],
  ['tokens', 1000],
])('a session that uses a second model under a budget of %s closes with %i', async (type, code) => {
  const { gateway, open, logOf } = realtime;
  const { key } = await gateway.admin.createKey({ usage_limits: { type, credit_limit: 1_000 } });
  const { client, session } = await open('/responses', { 'x-svc-api-key': key, 'x-svc-provider': '@oai' });
  const usage = { input_tokens: 1, output_tokens: 1 };
  const models = ['gpt-4o-mini-2024-07-18', 'gpt-4o-mini-2024-07-18', 'gpt-4o-2024-11-20'];
  for (const model of models) session.socket.send(JSON.stringify({ type: 'response.completed', response: { model, usage } }));
  await client.received(3);
  if (code === 1000) client.socket.close(1000);
  const closed = await within(client.closed, 'the close');
  expect(closed).toMatchObject({ code, reason: expect.stringContaining(code === 1013 ? 'Open a session for each model' : '') });
  expect(await logOf(client)).toMatchObject({ metrics: { req_units: 3, res_units: 3 } });
});

it('a budget of tokens ends a session whose provider states no usage, by the size of its messages', async () => {
  const { gateway, open, logOf } = realtime;
  const { key } = await gateway.admin.createKey({ usage_limits: { type: 'tokens', credit_limit: 1_500 } });
  const { client, session } = await open('/proxy/listen', { 'x-svc-api-key': key, 'x-svc-provider': '@oai' });
  client.socket.send(Buffer.alloc(512 * 1_024));
  session.socket.send('x'.repeat(4_000));
  expect((await within(client.closed, 'the close')).code).toBe(1008);
  expect(await logOf(client)).toMatchObject({ metrics: { usage_source: 'estimate', req_units: 512, res_units: 1_000 } });
  const strict = await gateway.admin.createKey({ reject_unmetered_requests: true });
  const refused = await realtime.refusal('/proxy/listen', { 'x-svc-api-key': strict.key, 'x-svc-provider': '@oai' });
  expect(refused.status).toBe(400);
});

it('usage in events of Gemini’s live API is counted', async () => {
  const { open, logOf } = realtime;
  const { client, session } = await open('/proxy/ws/BidiGenerateContent', { 'x-svc-provider': '@oai' });
  const usageMetadata = { promptTokenCount: 30, responseTokenCount: 12, totalTokenCount: 42 };
  session.socket.send(Buffer.from(JSON.stringify({ serverContent: { turnComplete: true }, usageMetadata })));
  await client.received(1);
  client.socket.close(1000);
  expect(await logOf(client)).toMatchObject({ metrics: { usage_source: 'provider', req_units: 30, res_units: 12 } });
});

it.each([
  ['is deleted', (id: string) => realtime.gateway.admin.delete(`/api-keys/${id}`)],
  ['loses the scope', (id: string) => realtime.gateway.admin.put(`/api-keys/${id}`, { scopes: ['logs.view'] })],
])('a session ends if its key %s, and those of other keys continue', async (_what, withdraw) => {
  const { gateway, open, logOf } = realtime;
  const { key, id } = await gateway.admin.createKey({});
  const { client } = await open(realtimePath, { 'x-svc-api-key': key });
  const other = await open(realtimePath, {});
  expect((await withdraw(id)).status).toBe(200);
  expect((await within(client.closed, 'the close')).code).toBe(1008);
  expect(await logOf(client)).toMatchObject({ outcome: 'cut', session: { close_code: 1008, closed_by: 'gateway' } });
  other.session.socket.send(replied(1, 1));
  await other.client.received(1);
  other.client.socket.close(1000);
});

it('a session ends if its provider is removed', async () => {
  const { gateway, open, logOf } = realtime;
  await gateway.admin.createUpstream('passing', `${realtime.provider.origin}/v1`);
  const { client, session } = await open('/realtime?model=@passing/m');
  expect((await gateway.admin.delete(`/providers/passing?workspace_id=${gateway.workspaceId}`)).status).toBe(200);
  expect(await within(client.closed, 'the close')).toEqual({ code: 1008, reason: 'The provider @passing was removed' });
  expect((await session.closed).code).toBe(1001);
  expect(await logOf(client)).toMatchObject({ outcome: 'cut', error: { code: 'forbidden' } });
});

it('an open session records its usage while it is open, and counts once', async () => {
  const { gateway, open, logOf } = realtime;
  const { key, id } = await gateway.admin.createKey({ usage_limits: { type: 'tokens', credit_limit: 100_000 } });
  const { client, session } = await open(realtimePath, { 'x-svc-api-key': key });
  const opened = await logOf(client, () => true);
  expect(opened).toMatchObject({ outcome: 'open', session: { close_code: null, closed_by: null } });
  session.socket.send(replied(900, 100));
  await logOf(client, (log) => log.metrics.req_units === 900);
  expect(await usedOf(id)).toBe(1_000);
  session.socket.send(replied(90, 10));
  await logOf(client, (log) => log.metrics.req_units === 990);
  expect(await usedOf(id)).toBe(1_100);
  client.socket.close(1000);
  const log = await logOf(client);
  expect(log).toMatchObject({ outcome: 'success', metrics: { req_units: 990, res_units: 110 }, session: { close_code: 1000 } });
  expect(await usedOf(id)).toBe(1_100);
});

it('usage of sessions of a killed process is kept', async () => {
  const { gateway, open, logOf } = realtime;
  const { key, id } = await gateway.admin.createKey({ usage_limits: { type: 'tokens', credit_limit: 100_000 } });
  const { client, session } = await open(realtimePath, { 'x-svc-api-key': key });
  session.socket.send(replied(900, 100));
  await logOf(client, (log) => log.metrics.req_units === 900);
  const [killed] = gateway.pidsOf('gateway');
  process.kill(killed as number, 'SIGKILL');
  expect((await client.closed).code).toBe(1006);
  await until(() => gateway.pidsOf('gateway').some((pid) => pid !== killed), { what: 'the process started again' });
  expect(await logOf(client, () => true)).toMatchObject({ outcome: 'open', metrics: { req_units: 900, res_units: 100 } });
  expect(await usedOf(id)).toBe(1_000);
});

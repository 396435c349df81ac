import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type LooseResponse,
  type SharedGatewayWithUpstream,
  shareGatewayWithUpstream,
} from '../support/product/gateway-with-upstream.ts';
import { cutMidStream, openaiError, stallBeforeHead, stallMidStream } from '../support/upstream/fake-upstream.ts';
import { dataEvent, namedEvent } from '../support/upstream/send-events.ts';

/** Every trace id of a reply belongs to exactly one record, which has the outcome. */
let gateway: SharedGatewayWithUpstream;
beforeAll(async () => {
  gateway = await shareGatewayWithUpstream();
});
afterAll(() => gateway?.close());
afterEach(() => gateway?.upstream.reset());

const messages = [{ role: 'user', content: 'one two three' }];
const chat = (more: object = {}) => gateway.call('/chat/completions', { body: { model: '@oai/gpt-4o-mini', messages, ...more } });
const path = '/v1/chat/completions';
const chunk = (text: string) =>
  dataEvent({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: { content: text } }],
  });

/** Counts and outcome, which must be equal for all kinds of replies. */
async function summary(response: LooseResponse) {
  const log = await gateway.logOf(response);
  const { req_units, res_units, total_units, ai_org, ai_model, virtual_key, response_status_code, mode } = log.metrics;
  return { outcome: log.outcome, req_units, res_units, total_units, ai_org, ai_model, virtual_key, response_status_code, mode };
}

describe('the record of a call', () => {
  it('holds tokens, status and target, the same for a plain and a streamed reply', async () => {
    const plain = await chat();
    await plain.arrayBuffer();
    const expected = {
      outcome: 'success',
      req_units: 3,
      res_units: 5,
      total_units: 8,
      ai_org: 'openai',
      ai_model: 'gpt-4o-mini',
      virtual_key: 'oai',
      response_status_code: 200,
      mode: 'chatComplete',
    };
    expect(await summary(plain)).toEqual(expected);
    for (const more of [{ stream: true }, { stream: true, stream_options: { include_usage: true } }]) {
      const streamed = await chat(more);
      await streamed.arrayBuffer();
      expect(await summary(streamed)).toEqual(expected);
    }
  });

  it.each([
    ['Anthropic in its own format', '/messages', '@ant', 'anthropic'],
    ['Anthropic behind the chat format', '/chat/completions', '@ant', 'anthropic'],
    ['OpenAI behind the Messages format', '/messages', '@oai', 'openai'],
    ['OpenAI responses', '/responses', '@oai', 'openai'],
  ])('records: %s count the same, plain and streamed', async (_, route, provider, type) => {
    const input = route === '/responses' ? { input: 'one two three' } : { messages, max_tokens: 50 };
    const summaries = [];
    for (const stream of [false, true]) {
      const response = await gateway.call(route, { body: { model: `${provider}/some-model`, stream, ...input } });
      await response.arrayBuffer();
      summaries.push(await summary(response));
    }
    expect(summaries[0]).toMatchObject({ outcome: 'success', req_units: 3, res_units: 5, ai_org: type, ai_model: 'some-model' });
    expect(summaries[1]).toEqual(summaries[0]);
  });

  it('has the same price for a plain and a streamed reply of a known model', async () => {
    const costs = [];
    for (const stream of [false, true]) {
      const response = await chat({ model: '@oai/gpt-4o', stream });
      await response.arrayBuffer();
      costs.push((await gateway.logOf(response)).metrics.cost);
    }
    expect(costs[0]).toBeGreaterThan(0);
    expect(costs[1]).toBe(costs[0]);
  });

  it('has the trace id and metadata of the client, or the trace id of a W3C traceparent', async () => {
    const headers = { 'x-svc-trace-id': 'trace-of-mine', 'x-svc-metadata': '{"_user":"ann"}' };
    const named = await gateway.call('/chat/completions', { body: { model: '@oai/m', messages }, headers });
    expect(named.headers.get('x-svc-trace-id')).toBe('trace-of-mine');
    expect((await gateway.logOf('trace-of-mine')).metrics).toMatchObject({
      'metadata.key': ['_user'],
      'metadata.value': ['ann'],
    });
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const traced = await gateway.call('/chat/completions', { body: { model: '@oai/m', messages }, headers: { traceparent } });
    expect(traced.headers.get('x-svc-trace-id')).toBe('0af7651916cd43dd8448eb211c80319c');
  });

  it('is also written for a pass-through call', async () => {
    const response = await gateway.call('/some/path', { body: { any: 'thing' }, headers: { 'x-svc-provider': '@oai' } });
    expect(response.status).toBe(404);
    const log = await gateway.logOf(response);
    expect(log.metrics).toMatchObject({ is_proxy_call: true, mode: 'proxy', response_status_code: 404, virtual_key: 'oai' });
    expect([log.outcome, log.attempts.length]).toEqual(['failed', 1]);
  });
});

describe('the record of a failure', () => {
  it('holds both attempts of a fallback, and the reply names the target that replied', async () => {
    const config = { strategy: { mode: 'fallback' }, targets: [{ provider: '@oai' }, { provider: '@ant' }] };
    const slug = await gateway.admin.createConfig(config);
    gateway.upstream.once(path, openaiError(503, 'overloaded'));
    const body = { model: 'any', max_tokens: 20, messages };
    const response = await gateway.call('/chat/completions', { body, headers: { 'x-svc-config': slug } });
    expect([response.status, response.headers.get('x-svc-last-used-option-index')]).toEqual([200, 'config.targets[1]']);
    const log = await gateway.logOf(response);
    expect(log.attempts).toMatchObject([
      { targetPath: 'config.targets[0]', provider: 'openai', providerSlug: 'oai', status: 503 },
      { targetPath: 'config.targets[1]', provider: 'anthropic', providerSlug: 'ant', status: 200, errorCode: null },
    ]);
    expect(log.metrics).toMatchObject({
      config: slug,
      ai_org: 'anthropic',
      last_used_option_index: 1,
      response_status_code: 200,
    });
  });

  it('holds the provider error that the client got', async () => {
    gateway.upstream.once(path, openaiError(429, 'slow down'));
    const response = await chat();
    expect(response.status).toBe(429);
    const log = await gateway.logOf(response);
    expect([log.outcome, log.metrics.response_status_code, log.error.code]).toEqual(['failed', 429, 'upstream_status']);
    expect(log.error.message).toContain('slow down');
  });

  it('has 499 for a client that disconnected', async () => {
    const held = stallBeforeHead();
    gateway.upstream.once(path, held);
    const controller = new AbortController();
    const headers = { 'x-svc-trace-id': 'gave-up-early' };
    const body = { model: '@oai/m', messages };
    const call = gateway.call('/chat/completions', { body, headers, signal: controller.signal }).catch((thrown) => thrown);
    const { request } = await held.reached;
    controller.abort();
    await Promise.all([call, request.closed]);
    const log = await gateway.logOf('gave-up-early');
    expect([log.outcome, log.metrics.response_status_code]).toEqual(['aborted', 499]);
    // The provider has received the prompt and bills it even if the client has disconnected.
    expect(log.metrics.req_units).toBe(Math.ceil(messages.map((message) => message.content).join('').length / 4));
  });

  it('has 499 for a client that left a stream, with the tokens so far', async () => {
    const usage = { input_tokens: 21, output_tokens: 1 };
    const start = {
      type: 'message_start',
      message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage },
    };
    const held = stallMidStream([namedEvent(start)], []);
    gateway.upstream.once('/v1/messages', held);
    const response = await gateway.call('/messages', { body: { model: '@ant/m', max_tokens: 5, messages, stream: true } });
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
    expect(await (await held.reached).request.closed).toBe('client-left');
    const log = await gateway.logOf(response);
    expect([log.outcome, log.metrics.response_status_code, log.metrics.req_units]).toEqual(['aborted', 499, 21]);
  });

  it('counts the events of a stream that the client left before the provider counted it', async () => {
    const held = stallMidStream([chunk('one'), chunk('two'), chunk('three')], []);
    gateway.upstream.once(path, held);
    const response = await chat({ stream: true });
    const reader = response.body!.getReader();
    let text = '';
    while (!text.includes('three')) text += Buffer.from((await reader.read()).value ?? []).toString();
    await reader.cancel();
    expect(await (await held.reached).request.closed).toBe('client-left');
    const { outcome, metrics } = await gateway.logOf(response);
    expect([outcome, metrics.res_units]).toEqual(['aborted', 3]);
    expect(metrics.req_units).toBeGreaterThan(0);
  });

  it('has the outcome cut for a stream that the provider cut', async () => {
    gateway.upstream.once(path, cutMidStream([chunk('half')]));
    const response = await chat({ stream: true });
    const text = await response.text();
    expect(text).toContain('half');
    expect(text).not.toContain('[DONE]');
    const log = await gateway.logOf(response);
    expect([log.outcome, log.metrics.response_status_code]).toEqual(['cut', 200]);
    expect(['stream_incomplete', 'upstream_reset']).toContain(log.error.code);
  });

  it('holds a rejection with its reason', async () => {
    const response = await chat({ model: '@nobody/m' });
    expect(response.status).toBe(400);
    const log = await gateway.logOf(response);
    const attempts = [{ providerSlug: 'nobody', status: 400, errorCode: 'invalid_provider' }];
    expect(log).toMatchObject({ outcome: 'refused', attempts, error: { code: 'invalid_provider' } });
  });
});

it('records: each of many concurrent requests has one', async () => {
  const traces = Array.from({ length: 100 }, (_, i) => `burst-${i}`);
  const calls = traces.map((trace) =>
    gateway.call('/chat/completions', { body: { model: '@oai/m', messages }, headers: { 'x-svc-trace-id': trace } }),
  );
  for (const response of await Promise.all(calls)) expect(response.status).toBe(200);
  // Records are shipped in order. Once this later one is stored, all others are.
  await gateway.logOf(await chat());
  for (const trace of traces) expect((await gateway.logOf(trace)).outcome).toBe('success');
});

it('records: keys read those of their own workspace only', async () => {
  const response = await chat();
  const traceId = response.headers.get('x-svc-trace-id') as string;
  await gateway.logOf(response);
  const own = await gateway.admin.createKey({ scopes: ['logs.view'] });
  const read = await gateway.call(`/logs/${traceId}`, { headers: { 'x-svc-api-key': own.key } });
  expect([read.status, (await read.json()).metrics.trace_id]).toEqual([200, traceId]);
  const stranger = await gateway.admin.post('/admin/workspaces', { name: 'elsewhere' });
  const other = await gateway.admin.createKey({ scopes: ['logs.view'], workspace_id: stranger.body.id });
  const refused = await gateway.call(`/logs/${traceId}`, { headers: { 'x-svc-api-key': other.key } });
  expect(refused.status).toBe(404);
});

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { PluginRequest } from '../../../core/contract/plugin/plugin.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { chatReply, createHarness, replyWith as scripted } from '../../../core/test-kit/pipeline-harness.ts';
import { hasAddress } from '../../../plugins/guardrails/checks/valid-urls.ts';

type Reply = { status?: number; json?: unknown; text?: string } | 'down' | 'blocked' | 'never';

/** Sends one chat completion, with a fake service behind the `fetch` of plugins. */
async function ask(
  config: JsonObject,
  reply: Reply,
  more: { headers?: Record<string, string>; path?: string; body?: JsonObject } = {},
) {
  const calls: PluginRequest[] = [];
  const gateway = createHarness({
    fetch(request) {
      calls.push(request);
      if (reply === 'down') return Promise.reject(new GatewayError('upstream_connect'));
      if (reply === 'blocked') return Promise.reject(new GatewayError('invalid_custom_host'));
      if (reply === 'never') return new Promise(() => {});
      const { status = 200, json, text = JSON.stringify(json) } = reply;
      return Promise.resolve({ status, headers: [], body: Buffer.from(text) });
    },
  });
  const body = more.body ?? { model: 'm', messages: [{ role: 'user', content: 'hello world' }] };
  const headers = { 'x-svc-config': JSON.stringify({ provider: '@one', ...config }), ...more.headers };
  const sink = await gateway.send({ headers, body, ...(more.path ? { path: more.path } : {}) });
  return { status: sink.status, reply: JSON.parse(sink.text) as JsonObject, calls, sent: gateway.calls };
}

const url = 'https://hooks.example.com/w';
const input = (parameters: JsonObject = {}, more: JsonObject = { deny: true }) => ({
  input_guardrails: [{ 'default.webhook': { webhookURL: url, ...parameters }, id: 'w', ...more }],
});
const checkOf = (reply: JsonObject) =>
  (reply.hook_results as { before_request_hooks: { checks: JsonObject[] }[] }).before_request_hooks[0]?.checks[0];

describe('default.webhook', () => {
  it.each<[string, Reply, JsonObject, number, string]>([
    ['verdict true', { json: { verdict: true } }, {}, 200, 'Webhook request succeeded'],
    ['verdict false', { json: { verdict: false } }, {}, 446, 'Webhook request failed'],
    ['verdict as text', { json: { verdict: 'false' } }, {}, 446, 'Webhook request failed'],
    ['no verdict', { json: { data: 1 } }, {}, 446, 'Webhook request failed'],
    ['down', 'down', {}, 200, 'Webhook error: fetch failed'],
    ['down, failOnError', 'down', { failOnError: true }, 446, 'Webhook error: fetch failed'],
    ['late', 'never', { timeout: 20 }, 200, 'Webhook error: Request timed out after 20ms'],
    ['status 500', { status: 500, json: { why: 'broken' } }, {}, 200, 'Webhook error: HTTP error! status: 500'],
    ['status 500, failOnError', { status: 500, json: {} }, { failOnError: true }, 446, 'Webhook error: HTTP error! status: 500'],
    ['not JSON', { text: 'ok' }, { failOnError: true }, 446, 'Webhook error: the reply is not a JSON object'],
  ])('%s', async (_name, reply, parameters, status, explanation) => {
    const asked = await ask(input(parameters), reply);
    expect(asked.status).toBe(status);
    expect(checkOf(asked.reply)?.data).toMatchObject({ explanation, webhookUrl: url });
  });

  it.each<[string, JsonObject, number]>([
    ['is denied', {}, 446],
    ['passes with failOnError false', { failOnError: false }, 200],
  ])('at an address that may not be called: %s', async (_name, parameters, status) => {
    const asked = await ask(input(parameters), 'blocked');
    expect(asked.status).toBe(status);
    expect(checkOf(asked.reply)).toMatchObject({
      verdict: false,
      error: { message: expect.stringContaining('this address may not be called') },
    });
  });

  it('receives the request without headers and credentials', async () => {
    const { calls } = await ask(
      input({ headers: '{"authorization":"Bearer t","X-A":"b"}' }),
      { json: { verdict: true } },
      {
        headers: { 'x-svc-metadata': '{"team":"a"}' },
      },
    );
    expect(calls).toEqual([
      {
        url,
        headers: ['authorization', 'Bearer t', 'x-a', 'b'],
        body: {
          request: {
            json: { model: 'm', messages: [{ role: 'user', content: 'hello world' }] },
            text: 'hello world',
            isStreamingRequest: false,
            isTransformed: false,
          },
          response: { json: {}, text: '', statusCode: null, isTransformed: false },
          provider: 'openai',
          requestType: 'chatComplete',
          metadata: { team: 'a' },
          eventType: 'beforeRequestHook',
        },
      },
    ]);
  });

  it.each<[string, JsonObject, JsonObject, string]>([
    ['of the config', { provider: 'anthropic', api_key: 'k' }, {}, 'anthropic'],
    ['of the model', {}, { model: '@one/m' }, 'openai'],
    ['of all targets', { strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] }, {}, 'openai'],
    [
      'none if targets differ',
      { strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@claude' }] },
      {},
      '',
    ],
    ['none if it is not known', { provider: '@absent' }, {}, ''],
  ])('receives the provider before one is chosen: %s', async (_name, config, body, provider) => {
    const given = { provider: undefined, ...config, ...input() };
    const { calls } = await ask(given, { json: { verdict: false } }, { body: { model: 'm', messages: [], ...body } });
    expect(calls[0]?.body).toMatchObject({ provider });
  });

  it.each([[true], [false], [undefined]])('runs on pass-through requests with executeOnProxy %s', async (executeOnProxy) => {
    const { calls } = await ask(input({ executeOnProxy }), { json: { verdict: true } }, { path: '/v1/some/route?a=b' });
    expect(calls[0]?.body).toMatchObject({
      requestType: 'proxy',
      requestInfo: { method: 'POST', path: '/v1/some/route', contentType: 'application/json' },
    });
  });

  it('forwards the headers that are named, and no other', async () => {
    const parameters = { forwardHeaders: ['x-tenant', 'x-svc-trace-id', 'traceparent', 'x-absent'] };
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const { calls } = await ask(
      input(parameters),
      { json: { verdict: true } },
      {
        headers: { 'x-tenant': 'blue', 'x-other': 'no', 'x-svc-trace-id': trace },
      },
    );
    expect(calls[0]?.headers).toEqual([
      ...['x-tenant', 'blue', 'x-svc-trace-id', trace],
      ...['traceparent', `00-${trace}-${trace.slice(16)}-01`],
    ]);
  });

  it('replaces the request by transformedData, except whether the reply streams', async () => {
    const json = { model: 'm2', messages: [{ role: 'user', content: 'changed' }], stream: true };
    const { sent, status } = await ask(input(), { json: { verdict: true, transformedData: { request: { json } } } });
    expect(status).toBe(200);
    expect(JSON.parse(String(sent[0]?.body))).toEqual({ model: 'm2', messages: [{ role: 'user', content: 'changed' }] });
  });

  it('replaces the response by transformedData, after it received request and response', async () => {
    const json = { id: 'new', choices: [{ index: 0, message: { role: 'assistant', content: 'changed' } }] };
    const config = { output_guardrails: [{ 'default.webhook': { webhookURL: url }, deny: true }] };
    const { reply, calls } = await ask(config, { json: { verdict: true, transformedData: { response: { json } } } });
    expect(reply).toMatchObject(json);
    expect(calls[0]?.body).toMatchObject({
      request: { text: 'hello world' },
      response: { text: 'hello', statusCode: 200 },
      eventType: 'afterRequestHook',
    });
  });

  it.each<[JsonObject, string]>([
    [{ webhookURL: 'nope' }, 'webhookURL'],
    [{ webhookURL: 'file:///etc/passwd' }, 'webhookURL'],
    [{ webhookURL: 'https://user:pass@hooks.example.com/' }, 'webhookURL'],
    ...[
      'authorization',
      'cookie',
      'x-api-key',
      'api-key',
      'apikey',
      'ocp-apim-subscription-key',
      'proxy-authorization',
      'connection',
      'host',
    ].map((name): [JsonObject, string] => [{ forwardHeaders: [name] }, 'forwardHeaders[0]']),
    // The harness is a deployment with the prefixes x-svc- and x-other-.
    ...['x-svc-api-key', 'x-svc-config', 'x-other-metadata', 'metadata-flavor', 'x-goog-api-key', 'bad name'].map(
      (name): [JsonObject, string] => [{ forwardHeaders: [name] }, 'forwardHeaders[0]'],
    ),
    [{ headers: { 'metadata-flavor': 'Google' } }, 'headers'],
    [{ headers: { 'x-other-config': '{}' } }, 'headers.x-other-config'],
    [{ headers: { 'x-a': 'b\r\nx: y' } }, 'headers'],
    [{ headers: { 'bad name': 'b' } }, 'headers.bad name: header names have letters, digits and hyphens'],
    [{ forwardHeaders: ['x-a', 'x:b'] }, 'forwardHeaders[1]: header names have letters, digits and hyphens'],
    [{ timeout: 0 }, 'timeout'],
    [{ executeOnProxy: 'yes' }, 'executeOnProxy'],
  ])('config is rejected: %j', async (parameters, field) => {
    const { status, reply } = await ask(input(parameters), 'down');
    expect(status).toBe(400);
    expect(JSON.stringify(reply)).toContain(`input_guardrails[0].default.webhook.${field}`);
  });
});

it.each<[string, JsonObject]>([
  ['default.log', { logURL: url }],
  ['svc.http', { url, verdictPointer: '/ok', credentials: {} }],
])('%s: rejects headers with a prefix of the gateway', async (id, parameters) => {
  const guardrail = { [id]: { ...parameters, headers: { 'x-other-config': '{}' } }, deny: true };
  const { status, reply, calls } = await ask({ input_guardrails: [guardrail] }, 'down');
  expect([status, calls.length]).toEqual([400, 0]);
  expect(JSON.stringify(reply)).toContain(`input_guardrails[0].${id}.headers.x-other-config: this header cannot be set`);
});

describe('default.log', () => {
  const config = { output_guardrails: [{ 'default.log': { logURL: url }, deny: true }] };
  it.each<[string, Reply, JsonObject]>([
    ['sent', { status: 500, text: '' }, { verdict: true, data: { message: `Logged the request to ${url}` } }],
    ['receiver down', 'down', { verdict: false, error: { name: 'TypeError', message: 'fetch failed' } }],
  ])('%s: the reply passes', async (_name, response, expected) => {
    const { status, reply, calls } = await ask(config, response);
    expect([status, calls.length]).toEqual([200, 1]);
    expect(reply.hook_results).toMatchObject({ after_request_hooks: [{ verdict: true, checks: [expected] }] });
  });
});

describe('default.validUrls', () => {
  const config = (parameters: JsonObject) => ({ output_guardrails: [{ 'default.validUrls': parameters, deny: true }] });
  it.each([{}, { not: true }])('a reply without a URL is denied: %j', async (parameters) => {
    expect((await ask(config(parameters), 'down')).status).toBe(446);
  });

  it.each(['http://127.0.0.1/', 'http://[::1]/x', 'http://no-such-name.invalid/'])(
    'onlyDNS: %s has no name with an address',
    async (url) => {
      const gateway = createHarness();
      gateway.script(scripted(200, chatReply(`see ${url} ok`)));
      const headers = { 'x-svc-config': JSON.stringify({ provider: '@one', ...config({ onlyDNS: true }) }) };
      const sink = await gateway.send({ headers, body: { model: 'm', messages: [{ role: 'user', content: 'x' }] } });
      expect(sink.status).toBe(446);
    },
  );

  it('onlyDNS: a name with an address is valid, and is looked up without a request', async () => {
    // Replies to every question for an A record with 192.0.2.1, and all others with no record.
    const server = createSocket('udp4', (question, { port, address }) => {
      const isA = question.readUInt16BE(question.length - 4) === 1;
      const header = Buffer.from([question[0] ?? 0, question[1] ?? 0, 0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0]);
      const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1]);
      server.send(Buffer.concat([header, question.subarray(12), ...(isA ? [record] : [])]), port, address);
    }).bind(0, '127.0.0.1');
    await once(server, 'listening');
    const servers = [`127.0.0.1:${server.address().port}`];
    expect(await hasAddress('https://www.example.com/page', servers)).toBe(true);
    expect(await hasAddress('https://192.0.2.7/page', servers)).toBe(false);
    server.close();
  });
});

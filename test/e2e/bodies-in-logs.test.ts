import { afterAll, beforeAll, expect, it } from 'vitest';
import { echo, mcpClient } from '../support/clients/mcp-client.ts';
import {
  type LooseResponse,
  type SharedGatewayWithUpstream,
  shareGatewayWithUpstream,
  storedKeys,
} from '../support/product/gateway-with-upstream.ts';
import { startMcpUpstream } from '../support/tool-servers/mcp-upstream.ts';
import { until } from '../support/until.ts';

let gateway: SharedGatewayWithUpstream;
beforeAll(async () => {
  gateway = await shareGatewayWithUpstream('configured');
});
afterAll(() => gateway?.close());

const messages = [{ role: 'user', content: 'one two three' }];
const chat = (more: object = {}, headers: Record<string, string> = {}) =>
  gateway.call('/chat/completions', { body: { model: '@oai/gpt-4o-mini', messages, ...more }, headers });

const textOf = (body: LooseBody): string =>
  body.choices?.[0].message.content ?? body.content?.[0].text ?? body.output?.at(-1).content[0].text;
// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
type LooseBody = any;

/** The log with its bodies, which may arrive after the record. */
async function detailOf(response: LooseResponse) {
  const { _id: id } = await gateway.logOf(response);
  return until(
    async () => {
      const { body } = await gateway.admin.get(`/logs/${id}`);
      return body.response.body !== null && body;
    },
    { what: `bodies of the log ${id}` },
  );
}

/** The body of the response as the log shows it now. */
async function storedBodyOf(response: LooseResponse): Promise<unknown> {
  const { _id: id } = await gateway.logOf(response);
  return (await gateway.admin.get(`/logs/${id}`)).body.response.body;
}

it.each([
  ['chat completions', '/chat/completions', { messages }],
  ['messages', '/messages', { messages, max_tokens: 50 }],
  ['responses', '/responses', { input: 'one two three' }],
])('%s: the log has headers and bodies, and a stream as one reply', async (_, path, input) => {
  const texts = [];
  for (const stream of [false, true]) {
    const sent = { model: '@oai/gpt-4o-mini', stream, ...input };
    const reply = await gateway.call(path, { body: sent, headers: { 'x-user-email': 'a@example.com' } });
    await reply.arrayBuffer();
    const log = await detailOf(reply);
    expect(log.request.body).toEqual(sent);
    expect(log.request.headers).toMatchObject({
      'x-svc-api-key': '***',
      'x-user-email': '***',
      'content-type': 'application/json',
    });
    expect(JSON.stringify(log)).not.toContain(gateway.workspaceKey.slice(-20));
    expect(JSON.stringify(log)).not.toContain(storedKeys.openai);
    texts.push(textOf(log.response.body));
  }
  expect(texts[0]).toEqual(expect.stringMatching(/./));
  expect(texts[1]).toBe(texts[0]);
});

it('the log shows no credential of an inline config, whatever its form', async () => {
  const hook = {
    'default.webhook': { webhookURL: 'http://127.0.0.1:9/hook', headers: { 'x-hook-token': 'planted hook' } },
    async: true,
  };
  const target = {
    provider: 'openai',
    api_key: 'planted key',
    aws_secret_access_key: 'planted aws',
    custom_host: gateway.upstream.openaiHost,
  };
  const config = { targets: [target], input_guardrails: [hook] };
  const reply = await chat({ model: 'gpt-4o-mini' }, { 'x-svc-config': JSON.stringify(config) });
  await reply.arrayBuffer();
  const log = await detailOf(reply);
  expect(log.request.headers['x-svc-config']).toContain('"api_key":"***"');
  expect(JSON.stringify(log)).not.toContain('planted');
});

it.each([false, true])('a translated call has the request and the response of the provider (stream: %s)', async (stream) => {
  const config = JSON.stringify({ override_params: { temperature: 0.25 } });
  const sent = { model: '@ant/claude-3-5-haiku-latest', stream, max_tokens: 40, messages };
  const reply = await gateway.call('/chat/completions', { body: sent, headers: { 'x-svc-config': config } });
  expect([reply.status, (await reply.text()).length > 0]).toEqual([200, true]);
  const log = await detailOf(reply);
  const shaped = { model: 'claude-3-5-haiku-latest', stream, max_tokens: 40, messages, temperature: 0.25 };
  expect(log.request.body).toEqual(sent);
  expect(log.finalUntransformedRequest).toMatchObject({ method: 'POST', body: shaped, omitted: null });
  expect(log.transformedRequest).toMatchObject({
    url: expect.stringMatching(/^http:\/\/.*\/messages$/),
    method: 'POST',
    headers: { 'x-api-key': '***', 'anthropic-version': expect.stringMatching(/^2/), 'content-type': 'application/json' },
    body: { model: 'claude-3-5-haiku-latest', max_tokens: 40, temperature: 0.25, messages: [{ role: 'user' }] },
    omitted: null,
  });
  expect(log.originalResponse).toMatchObject({ status: 200, omitted: null });
  if (stream) expect(log.originalResponse.body).toContain('event: message_stop');
  else expect(log.originalResponse.body).toMatchObject({ type: 'message', content: [{ type: 'text' }] });
  expect(JSON.stringify(log)).not.toContain(storedKeys.anthropic);
  const { _id: id } = await gateway.logOf(reply);
  const { body: hooks } = await gateway.admin.get(`/logs/${id}?type=hooks`);
  expect([hooks.finalUntransformedRequest, hooks.transformedRequest, hooks.originalResponse]).toEqual([null, null, null]);
});

it('a call that passes unchanged has its bodies once', async () => {
  const body = { model: 'gpt-4o-mini', messages };
  const reply = await gateway.call('/chat/completions', { body, headers: { 'x-svc-provider': '@oai' } });
  await reply.arrayBuffer();
  const log = await detailOf(reply);
  const unchanged = { body: null, omitted: 'unchanged' };
  expect(log.finalUntransformedRequest).toMatchObject(unchanged);
  expect(log.transformedRequest).toMatchObject({ ...unchanged, headers: { authorization: '***' } });
  expect(log.originalResponse).toMatchObject({ ...unchanged, status: 200 });
});

it('a call of a tool has its arguments and its result', async () => {
  const server = await startMcpUpstream();
  try {
    const client = await mcpClient(gateway);
    await client.addServer('logged', server.url);
    const reply = await client.post('logged', echo('kept in the log'));
    const { _id: id } = await gateway.logOf(reply.headers.get('x-svc-trace-id') as string);
    const log = await until(
      async () => {
        const { body } = await gateway.admin.get(`/logs/${id}`);
        return body.response.body !== null && body;
      },
      { what: 'the bodies of the call' },
    );
    expect(log.request.body).toEqual(echo('kept in the log'));
    expect(JSON.stringify(log.response.body)).toContain('kept in the log');
  } finally {
    await server.close();
  }
});

it('a prompt completion has its version, its label, its variables and the rendered body', async () => {
  const template = [{ role: 'user', content: 'Hello {{name}}, {{password}}' }];
  const parameters = { model: 'gpt-4o-mini' };
  const saved = { name: 'Recorded', string: JSON.stringify(template), parameters, virtual_key: 'oai' };
  const created = await gateway.admin.post('/prompts', { ...saved, workspace_id: gateway.workspaceId });
  const { slug, version_id: versionId } = created.body;
  await gateway.admin.put(`/prompts/${slug}/labels/staging`, { workspace_id: gateway.workspaceId, version: 1 });
  const variables = { name: 'Ann', password: 'open sesame' };
  const reply = await gateway.call(`/prompts/${slug}@staging/completions`, { body: { variables } });
  await reply.arrayBuffer();
  const log = await detailOf(reply);
  expect(log.metrics).toMatchObject({
    ...{ prompt_slug: slug, prompt_version_id: versionId, prompt_version: 1, prompt_label: 'staging' },
  });
  expect(log.prompt).toEqual({ variables: { name: 'Ann', password: '***' }, omitted: null });
  expect(log.request.body.messages).toEqual([{ role: 'user', content: 'Hello Ann, open sesame' }]);
  const range = `time_of_generation_min=${new Date(Date.now() - 3_600_000).toISOString()}&time_of_generation_max=${new Date(Date.now() + 60_000).toISOString()}`;
  const { body } = await gateway.admin.get(`/analytics/groups/prompt_version?${range}&prompt_slug=${slug}`);
  expect(body.data).toMatchObject([{ prompt: slug, prompt_version: 1, requests: 1 }]);
});

it('replay: sends the stored request again with the key of the caller, also to another model', async () => {
  const reply = await chat({ stream: true });
  await reply.arrayBuffer();
  const { _id: id } = await detailOf(reply);
  const replay = (body: object) => gateway.call(`/logs/${id}/replay`, { body: { ...body } });
  for (const [body, model] of [
    [{}, 'gpt-4o-mini'],
    [{ model: '@oai/gpt-4o' }, 'gpt-4o'],
  ] as const) {
    const replayed = await (await replay(body)).json();
    expect(replayed).toMatchObject({ object: 'replay', status: 200, body: { choices: [{}] } });
    const log = await until(async () => {
      const found = await gateway.admin.get(`/logs/${replayed.trace_id}`);
      return found.status === 200 && found.body.request.body !== null && found.body;
    });
    expect(log.metrics).toMatchObject({ ai_model: model, stream_mode: 0 });
    expect(log.request.body).toMatchObject({ messages });
  }
  const once = async () =>
    (await gateway.call(`/logs/${id}/replay`, { body: {}, headers: { 'idempotency-key': 'once' } })).json();
  const { trace_id } = await once();
  expect(await once()).toMatchObject({ object: 'replay', status: 200, trace_id });
});

it.each([
  ['completions', '/completions', { prompt: 'one two three' }, { choices: [{}] }],
  ['embeddings', '/embeddings', { input: 'one two three' }, { data: [{}] }],
])('replay: sends a stored request of %s again', async (_what, path, input, body) => {
  const reply = await gateway.call(path, { body: { model: '@oai/gpt-4o-mini', ...input } });
  await reply.arrayBuffer();
  const { _id: id } = await detailOf(reply);
  const replayed = await (await gateway.call(`/logs/${id}/replay`, { body: {} })).json();
  expect(replayed).toMatchObject({ object: 'replay', status: 200, body });
  const log = await until(async () => {
    const found = await gateway.admin.get(`/logs/${replayed.trace_id}`);
    return found.status === 200 && found.body.request.body !== null && found.body;
  });
  expect(log.request.body).toMatchObject(input);
});

it('errors and rejected requests keep their reply', async () => {
  const reply = await chat({ model: '@no-such-provider/m' });
  const body = await reply.json();
  const log = await detailOf(reply);
  expect(log.response.body).toEqual(body);
  expect(log.transformedRequest).toBe(null);
});

it('x-svc-debug: false and debug_log store the record alone', async () => {
  const silent = await chat({}, { 'x-svc-debug': 'false' });
  await silent.arrayBuffer();
  const setDebugLog = (debug_log: number) => gateway.admin.put('/organisations/self', { settings: { debug_log } });
  // The change reaches the gateway within moments, and bodies arrive after the record in the order of the requests.
  const reply = await until(
    async () => {
      await setDebugLog(0);
      let last = await chat();
      for (let n = 0; n < 10; n++) {
        await last.arrayBuffer();
        last = await chat();
      }
      await last.arrayBuffer();
      await setDebugLog(1);
      await until(async () => {
        const later = await chat();
        await later.arrayBuffer();
        return (await storedBodyOf(later)) !== null;
      });
      return (await storedBodyOf(last)) === null && last;
    },
    { what: 'a log without bodies after debug_log: 0' },
  );
  for (const one of [silent, reply]) {
    const { _id } = await gateway.logOf(one);
    const { body } = await gateway.admin.get(`/logs/${_id}`);
    expect(body.request).toMatchObject({ headers: {}, body: null });
    expect(body.response).toMatchObject({ headers: {}, body: null });
  }
});

it('debug_log_error_body stores the body of an error alone, and enforce_debug_log_setting ignores x-svc-debug', async () => {
  const set = (settings: object) => gateway.admin.put('/organisations/self', { settings });
  const failing = async (headers = {}) => {
    const reply = await chat({ model: '@no-such-provider/m' }, headers);
    return { sent: await reply.json(), id: (await gateway.logOf(reply))._id };
  };
  const read = async (id: string) => (await gateway.admin.get(`/logs/${id}`)).body;
  // A change reaches the gateway within moments.
  await set({ debug_log: 0, debug_log_error_body: 1 });
  const [failed, log] = await until(async () => {
    const one = await failing();
    const found = await until(async () => {
      const each = await read(one.id);
      return each.response.body !== null && each;
    });
    return Object.keys(found.request.headers).length === 0 && ([one, found] as const);
  });
  expect(log.request).toMatchObject({ headers: {}, body: null, omitted: 'not_stored' });
  expect(log.response).toMatchObject({ headers: {}, body: failed.sent, omitted: null });
  await set({ debug_log: 1, debug_log_error_body: 0, enforce_debug_log_setting: 1 });
  await until(async () => {
    const { id } = await failing({ 'x-svc-debug': 'false' });
    const later = await failing();
    await until(async () => (await read(later.id)).response.body !== null);
    return (await read(id)).request.body !== null;
  });
  await set({ enforce_debug_log_setting: 0 });
});

it('headers that the client names as sensitive are masked, also in the call to the provider', async () => {
  const headers = {
    ...{ 'x-patient': 'Jane Doe', 'x-tenant': 'blue', 'x-svc-sensitive-headers': 'X-Patient, x-none' },
    'x-svc-forward-headers': 'x-patient, x-tenant',
  };
  const log = await detailOf(await chat({}, headers));
  const shown = { 'x-patient': '***', 'x-tenant': 'blue' };
  expect(log.request.headers).toMatchObject(shown);
  expect(log.transformedRequest.headers).toMatchObject(shown);
  expect(JSON.stringify(log)).not.toContain('Jane Doe');
});

import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type SharedGatewayWithUpstream, shareGatewayWithUpstream } from '../../support/product/gateway-with-upstream.ts';
import { until } from '../../support/until.ts';
import { reply } from '../../support/upstream/fake-upstream.ts';

/** Restricted models in batches: every provider has only `good` enabled. */
let gateway: SharedGatewayWithUpstream;
const clients: Record<string, OpenAI> = {};

beforeAll(async () => {
  gateway = await shareGatewayWithUpstream();
  const { admin, upstream } = gateway;
  await admin.createUpstream('mis', upstream.openaiHost, { ai_provider_id: 'mistral-ai', key: 'mistral-key' });
  await admin.createUpstream('coh', upstream.openaiHost, { ai_provider_id: 'cohere', key: 'cohere-key' });
  for (const slug of ['oai', 'ant', 'mis', 'coh']) {
    const models = { models: [{ slug: 'good', enabled: true }], allow_all_models: false };
    const put = await admin.put(`/integrations/${admin.integrationOf(slug)}/models`, models as never);
    expect(put.status, JSON.stringify(put.body)).toBe(200);
    const apiKey = await gateway.keyFor({ provider: `@${slug}` });
    clients[slug] = new OpenAI({ baseURL: gateway.baseUrl, apiKey, maxRetries: 0 });
    const body = { model: 'bad', messages: [{ role: 'user' as const, content: 'x' }] };
    const refused = () =>
      client(slug)
        .chat.completions.create(body)
        .then(
          () => 200,
          (error) => error.status,
        );
    await until(async () => (await refused()) === 412, { what: `the restriction of ${slug}` });
  }
  upstream.reset();
});
afterAll(() => gateway?.close());
afterEach(() => gateway?.upstream.reset());

const client = (slug: string) => clients[slug] as OpenAI;
const line = (id: string, model: string, more: object = {}) => ({
  custom_id: id,
  method: 'POST',
  url: '/v1/chat/completions',
  body: { model, messages: [{ role: 'user', content: id }], ...more },
});
const jsonl = (...lines: object[]) => lines.map((one) => JSON.stringify(one)).join('\n');
const notAllowed = { status: 412, message: expect.stringContaining('Model bad is not allowed') };
const made = { id: 'batch_1', object: 'batch', status: 'validating' };
const wanted = { endpoint: '/v1/chat/completions', completion_window: '24h' } as const;

describe('a batch that its provider runs, from a file at the provider', () => {
  const create = (more: object = {}) => client('oai').batches.create({ input_file_id: 'file-1', ...wanted, ...more } as never);
  const sent = () => gateway.upstream.requests.map(({ method, path }) => `${method} ${path}`);

  function fileIs(text: string, id = 'file-1'): void {
    gateway.upstream.on(`/v1/files/${id}/content`, reply(200, text, { 'content-type': 'application/octet-stream' }));
    gateway.upstream.on('/v1/batches', reply(200, made as never));
  }

  it('is created if all lines name allowed models, however long the file is', async () => {
    const filler = 'é'.repeat(1_000);
    fileIs(`${jsonl(...Array.from({ length: 3_000 }, (_, i) => line(`a${i}`, 'good', { user: filler })))}\n\n`);
    expect(await create()).toMatchObject({ id: 'batch_1' });
    expect(sent()).toEqual(['GET /v1/files/file-1/content', 'POST /v1/batches']);
    expect(JSON.parse(gateway.upstream.last.text)).toEqual({ input_file_id: 'file-1', ...wanted });
  });

  it.each([
    ['names another model in its last line', jsonl(line('a', 'good'), line('b', 'bad')), notAllowed],
    ['names it a second time', '{"custom_id":"a","body":{"model":"bad","messages":[],"model":"good"}}', { status: 400 }],
    ['names it under an escaped key', '{"custom_id":"a","body":{"mod\\u0065l":"bad"}}', notAllowed],
    ['has a line that is none', `${jsonl(line('a', 'good'))}\n{"custom_id":`, { status: 400, param: 'input_file_id line 2' }],
    ['has a line without a body', '{"custom_id":"a","model":"bad"}', { status: 400, param: 'input_file_id line 1' }],
    ['names it in another spelling of the key', '{"custom_id":"a","body":{"model":"good","Model":"bad"}}', { status: 400 }],
    ['names it as an alternative', jsonl(line('a', 'good', { models: ['bad'] })), notAllowed],
    ['has a model that is no text', '{"custom_id":"a","body":{"model":["bad"]}}', { status: 400 }],
  ])('is not created if the file %s', async (_, text, error) => {
    fileIs(text);
    await expect(create()).rejects.toMatchObject(error);
    expect(sent()).toEqual(['GET /v1/files/file-1/content']);
  });

  it('is checked with the file that the provider gets', async () => {
    fileIs(jsonl(line('a', 'good')));
    fileIs(jsonl(line('a', 'bad')), 'file-2');
    await expect(create({ provider_options: { input_file_id: 'file-2' } })).rejects.toMatchObject(notAllowed);
    await expect(create({ provider_options: { input_blob: 'https://blob' } })).rejects.toMatchObject({ param: 'input_blob' });
    await expect(create({ input_file_id: '../files/file-1' })).rejects.toMatchObject({ param: 'input_file_id' });
    expect(sent()).not.toContain('POST /v1/batches');
  });

  it('is not created if the file cannot be read', async () => {
    const { upstream } = gateway;
    upstream.on('/v1/batches', reply(200, made as never));
    upstream.on('/v1/files/file-1/content', reply(404, { error: { message: 'No such File object' } } as never));
    await expect(create()).rejects.toMatchObject({ status: 400, message: expect.stringContaining('No such File object') });
    expect(sent()).not.toContain('POST /v1/batches');
  });

  it('is also checked with the model outside its lines, if the provider has one', async () => {
    gateway.upstream.on('/v1/files/f-1/content', reply(200, jsonl({ custom_id: 'a', body: { messages: [] } })));
    gateway.upstream.on('/v1/batch/jobs', reply(200, { id: 'job-1', status: 'QUEUED' } as never));
    const at = (more: object) => client('mis').batches.create({ input_file_id: 'f-1', ...wanted, ...more } as never);
    expect(await at({ provider_options: { model: 'good' } })).toMatchObject({ id: 'job-1' });
    await expect(at({ model: 'good', provider_options: { model: 'bad' } })).rejects.toMatchObject(notAllowed);
    await expect(at({ provider_options: { agent_id: 'ag-1' } })).rejects.toMatchObject({ param: 'agent_id' });
    await expect(at({ provider_options: { requests: [] } })).rejects.toMatchObject({ param: 'requests' });
  });
});

describe('a batch from a file of the service', () => {
  const upload = (slug: string, text: string) =>
    client(slug).files.create({ file: new File([text], 'in.jsonl'), purpose: 'batch' });

  it('is not created at a provider that is sent the lines if one of them names another model', async () => {
    const { upstream } = gateway;
    upstream.on('/v1/messages/batches', reply(200, { id: 'msgbatch_1', processing_status: 'in_progress' } as never));
    const create = async (text: string) =>
      client('ant').batches.create({ input_file_id: (await upload('ant', text)).id, ...wanted });
    await expect(create(jsonl(line('a', 'good'), line('b', '@ant/bad')))).rejects.toMatchObject(notAllowed);
    await expect(create(jsonl(line('a', 'good', { fallbacks: [{ model: 'bad' }] })))).rejects.toMatchObject(notAllowed);
    // Uploads that had begun were aborted.
    for (const request of upstream.requests) await expect(request.complete).rejects.toThrow();
    expect(await create(jsonl(line('a', 'good'), line('b', '@ant/good')))).toMatchObject({
      id: expect.stringMatching(/^msgbatch_1\./),
    });
  });

  it('is checked with the model that the provider gets beside a dataset', async () => {
    const create = (more: object) => client('coh').batches.create({ input_file_id: 'ds-1', ...wanted, ...more } as never);
    await expect(create({ model: 'good', provider_options: { model: 'bad' } })).rejects.toMatchObject(notAllowed);
    expect(gateway.upstream.requests).toEqual([]);
  });

  it('has the rejection as the reply of the line if the service runs it', async () => {
    const file = await upload('ant', jsonl(line('a', '@oai/good'), line('b', '@oai/bad')));
    const { id } = await client('oai').batches.create({
      ...{ input_file_id: file.id, endpoint: wanted.endpoint },
      completion_window: 'immediate',
    } as never);
    const batch = await until(
      async () => {
        const found = await client('oai').batches.retrieve(id);
        return found.status === 'completed' ? found : null;
      },
      { what: 'the end of the batch', deadlineMs: 60_000 },
    );
    expect(batch.request_counts).toEqual({ total: 2, completed: 1, failed: 1 });
    const output = (await client('oai').get(`/batches/${id}/output`, { __binaryResponse: true })) as Response;
    const lines = (await output.text())
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text));
    expect(lines.map((one) => [one.custom_id, one.response.status_code])).toEqual([
      ['a', 200],
      ['b', 412],
    ]);
    const calls = gateway.upstream.requests.filter((request) => request.path.endsWith('/chat/completions'));
    expect(calls.map((request) => JSON.parse(request.text).model)).toEqual(['good']);
  });
});

describe('a batch with guardrails', () => {
  const config = { input_guardrails: [{ 'default.contains': { words: ['forbidden'], operator: 'none' }, id: 'g', deny: true }] };
  const create = async (provider: string, window: string, text: string) => {
    const options = { headers: { 'x-svc-config': JSON.stringify({ provider: `@${provider}`, ...config }) } };
    const openai = new OpenAI({ baseURL: gateway.baseUrl, apiKey: gateway.workspaceKey, maxRetries: 0 });
    const file = await openai.files.create({ file: new File([text], 'in.jsonl'), purpose: 'batch' }, {
      headers: { 'x-svc-provider': 'svc' },
    } as never);
    const body = { input_file_id: file.id, endpoint: wanted.endpoint, completion_window: window };
    return { openai, batch: await openai.batches.create(body as never, options) };
  };
  const text = jsonl(line('a', 'good'), line('forbidden', 'good'), line('c', 'good'));

  it('is rejected with 446 before a provider that is sent the lines has the denied one', async () => {
    gateway.upstream.on('/v1/messages/batches', reply(200, { id: 'msgbatch_1', processing_status: 'in_progress' } as never));
    await expect(create('ant', '24h', text)).rejects.toMatchObject({ status: 446 });
    for (const request of gateway.upstream.requests) await expect(request.complete).rejects.toThrow();
  });

  it('has the denial as the result of the denied line if the service runs it, and the other lines are sent', async () => {
    const { openai, batch } = await create('oai', 'immediate', text);
    await until(async () => (await openai.batches.retrieve(batch.id)).status === 'completed', { what: 'the end of the batch' });
    const output = (await openai.get(`/batches/${batch.id}/output`, { __binaryResponse: true })) as Response;
    const lines = (await output.text())
      .trimEnd()
      .split('\n')
      .map((one) => JSON.parse(one));
    expect(Object.fromEntries(lines.map((one) => [one.custom_id, one.response.status_code]))).toEqual({
      ...{ a: 200, forbidden: 446, c: 200 },
    });
    const denied = lines.find((one) => one.custom_id === 'forbidden');
    expect(denied.response.body.hook_results.before_request_hooks[0]).toMatchObject({ id: 'g', verdict: false });
    expect(gateway.upstream.requests.filter((request) => request.path.endsWith('/chat/completions'))).toHaveLength(2);
  });
});

describe('a batch on a pass-through route', () => {
  const ask = (provider: string, path: string, body: object | string, headers: object = {}) =>
    gateway.call(path, {
      method: 'POST',
      headers: { 'x-svc-provider': provider, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  it('is rejected if its file would not be checked, and checked if it holds its requests', async () => {
    const refused = await ask('@oai', '/proxy/batches', { input_file_id: 'file-1', ...wanted });
    expect(refused.status).toBe(400);
    expect((await refused.json()).error).toMatchObject({ param: 'input_file_id' });
    expect((await ask('@mis', '/proxy/batch/jobs', { input_files: ['f-1'], model: 'good' })).status).toBe(400);
    const native = (model: string) => ({ requests: [{ custom_id: 'a', params: { model, max_tokens: 1, messages: [] } }] });
    expect((await ask('@ant', '/messages/batches', native('bad'))).status).toBe(412);
    const hidden = await ask('@oai', '/proxy/chat/completions', 'not to be read', { 'content-encoding': 'gzip' });
    expect(hidden.status).toBe(400);
    expect(gateway.upstream.requests).toEqual([]);
    gateway.upstream.on('/v1/messages/batches', reply(200, { id: 'msgbatch_1' } as never));
    expect((await ask('@ant', '/messages/batches', native('good'))).status).toBe(200);
  });
});

import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { toFile } from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type SharedGatewayWithUpstream,
  shareGatewayWithUpstream,
  storedKeys,
} from '../../support/product/gateway-with-upstream.ts';
import { patternBytes } from '../../support/samples/pattern-bytes.ts';
import { reply } from '../../support/upstream/fake-upstream.ts';

/** Files, batches and fine-tuning jobs stored by providers, through the official client. */
let gateway: SharedGatewayWithUpstream;
let client: OpenAI;
let viaAnthropic: OpenAI;
let viaMistral: OpenAI;

beforeAll(async () => {
  gateway = await shareGatewayWithUpstream();
  await gateway.admin.createUpstream('mis', gateway.upstream.openaiHost, { ai_provider_id: 'mistral-ai', key: 'mistral-key' });
  const clientOf = async (provider: string) =>
    new OpenAI({ baseURL: gateway.baseUrl, apiKey: await gateway.keyFor({ provider }), maxRetries: 0 });
  client = await clientOf('@oai');
  viaAnthropic = await clientOf('@ant');
  viaMistral = await clientOf('@mis');
});
afterAll(() => gateway?.close());
afterEach(() => gateway?.upstream.reset());

const json = (body: object, status = 200) => reply(status, body as never);
const lines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('files and batches at an OpenAI-compatible provider', () => {
  const file = {
    id: 'file-1',
    object: 'file',
    bytes: 3,
    created_at: 1,
    filename: 'in.jsonl',
    purpose: 'batch',
    status: 'processed',
  };
  const batch = {
    id: 'batch_1',
    object: 'batch',
    status: 'completed',
    input_file_id: 'file-1',
    output_file_id: 'file-2',
    error_file_id: 'file-3',
  };

  it('get the client’s own upload with the stored credential', async () => {
    const { upstream } = gateway;
    upstream.on('/v1/files', json(file));
    const bytes = patternBytes(3_000_000);
    expect(await client.files.create({ file: await toFile(bytes, 'in.jsonl'), purpose: 'batch' })).toMatchObject({
      id: 'file-1',
    });
    const { last } = upstream;
    expect(last.header('authorization')).toBe(`Bearer ${storedKeys.openai}`);
    const form = await new Response(new Uint8Array(last.body), {
      headers: { 'content-type': last.header('content-type') ?? '' },
    }).formData();
    expect(form.get('purpose')).toBe('batch');
    expect(Buffer.from(await (form.get('file') as File).arrayBuffer()).equals(bytes)).toBe(true);
  });

  it('include reading, content and deletion of files', async () => {
    const { upstream } = gateway;
    upstream.on('/v1/files', json({ object: 'list', data: [file], has_more: false }));
    upstream.on('/v1/files/file-1', json(file));
    upstream.on('/v1/files/file-1/content', reply(200, 'a,b\n', { 'content-type': 'application/octet-stream' }));
    expect((await client.files.list({ purpose: 'batch', limit: 2 })).data).toEqual([file]);
    expect(upstream.last.query ?? upstream.last.url).toContain('limit=2');
    expect(await client.files.retrieve('file-1')).toEqual(file);
    expect(await (await client.files.content('file-1')).text()).toBe('a,b\n');
    upstream.on('/v1/files/file-1', json({ id: 'file-1', object: 'file', deleted: true }));
    expect(await client.files.delete('file-1')).toEqual({ id: 'file-1', object: 'file', deleted: true });
    expect(upstream.last.method).toBe('DELETE');
  });

  it('run, and their output is one stream of two files', async () => {
    const { upstream } = gateway;
    upstream.on('/v1/batches', json(batch));
    upstream.on('/v1/batches/batch_1', json(batch));
    upstream.on('/v1/batches/batch_1/cancel', json({ ...batch, status: 'cancelling' }));
    upstream.on('/v1/files/file-2/content', reply(200, '{"custom_id":"a"}', { 'content-type': 'application/jsonl' }));
    upstream.on('/v1/files/file-3/content', reply(200, '{"custom_id":"b"}\n', { 'content-type': 'application/jsonl' }));
    const body = { input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' } as const;
    await client.batches.create({
      ...body,
      svc_options: { 'x-svc-provider': '@oai' },
      provider_options: { priority: 'low' },
    } as never);
    expect(JSON.parse(upstream.last.text)).toEqual({ ...body, priority: 'low' });
    expect(await client.batches.retrieve('batch_1')).toEqual(batch);
    expect((await client.batches.cancel('batch_1')).status).toBe('cancelling');
    const output = (await client.get('/batches/batch_1/output', { __binaryResponse: true })) as Response;
    expect(lines(await output.text())).toEqual([{ custom_id: 'a' }, { custom_id: 'b' }]);
  });

  it('include fine-tuning jobs', async () => {
    const { upstream } = gateway;
    const job = { id: 'ftjob-1', object: 'fine_tuning.job', status: 'running' };
    upstream.on('/v1/fine_tuning/jobs', json(job));
    upstream.on('/v1/fine_tuning/jobs/ftjob-1', json(job));
    upstream.on('/v1/fine_tuning/jobs/ftjob-1/cancel', json({ ...job, status: 'cancelled' }));
    upstream.on('/v1/fine_tuning/jobs/ftjob-1/events', json({ object: 'list', data: [], has_more: false }));
    await client.fineTuning.jobs.create({ model: 'gpt-4o-mini', training_file: 'file-1' });
    expect(await client.fineTuning.jobs.retrieve('ftjob-1')).toEqual(job);
    expect((await client.fineTuning.jobs.cancel('ftjob-1')).status).toBe('cancelled');
    expect((await client.fineTuning.jobs.listEvents('ftjob-1')).data).toEqual([]);
  });

  it('must be the only provider of a config', async () => {
    const apiKey = await gateway.keyFor({
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@oai' }, { provider: '@ant' }],
    });
    const two = new OpenAI({ baseURL: gateway.baseUrl, apiKey, maxRetries: 0 });
    await expect(two.files.list()).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('allow at most one target'),
    });
    await expect(two.batches.retrieve('batch_1')).rejects.toMatchObject({ status: 400 });
    await expect(two.fineTuning.jobs.listEvents('ftjob-1')).rejects.toMatchObject({ status: 400 });
    await expect(two.fineTuning.jobs.pause('ftjob-1')).rejects.toMatchObject({ status: 400 });
    expect(gateway.upstream.requests).toHaveLength(0);
  });
});

describe('message batches of anthropic in the format of OpenAI', () => {
  const created = {
    id: 'msgbatch_1',
    type: 'message_batch',
    processing_status: 'in_progress',
    request_counts: { processing: 2, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
    ended_at: null,
    created_at: '2026-01-01T00:00:00Z',
    expires_at: '2026-01-02T00:00:00Z',
    cancel_initiated_at: null,
    results_url: null,
  };
  const line = (id: string) => ({
    custom_id: id,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: '@ant/claude-sonnet-4-5', max_tokens: 9, messages: [{ role: 'user', content: id }] },
  });
  const upload = (text: string) => viaAnthropic.files.create({ file: new File([text], 'in.jsonl'), purpose: 'batch' });
  const create = (id: string, more: object = {}) =>
    viaAnthropic.batches.create({ input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h', ...more });

  it('can be created from a file of the service', async () => {
    const { upstream } = gateway;
    upstream.on('/v1/messages/batches', json(created));
    const file = await upload(`${JSON.stringify(line('a'))}\n${JSON.stringify(line('b'))}\n`);
    expect(file.id).toMatch(/^svc_file_/);
    expect(upstream.requests).toHaveLength(0);
    const batch = await create(file.id);
    expect(batch).toMatchObject({
      id: expect.stringMatching(/^msgbatch_1\.[\w-]+$/),
      object: 'batch',
      status: 'in_progress',
      request_counts: { total: 2 },
    });
    expect(upstream.last.header('x-api-key')).toBe(storedKeys.anthropic);
    expect(JSON.parse(upstream.last.text).requests).toMatchObject([
      { custom_id: 'a', params: { model: 'claude-sonnet-4-5', max_tokens: 9, messages: [{ role: 'user' }] } },
      { custom_id: 'b' },
    ]);
  });

  it('keep their file and metadata under their id', async () => {
    const { upstream } = gateway;
    upstream.on('/v1/messages/batches', json(created));
    upstream.on('/v1/messages/batches/msgbatch_1', json(created));
    upstream.on('/v1/messages/batches/msgbatch_1/cancel', json({ ...created, processing_status: 'canceling' }));
    const file = await upload(JSON.stringify(line('a')));
    const metadata = { team: 'Größe', ticket: '7' };
    const { id } = await create(file.id, { metadata });
    const kept = { id, input_file_id: file.id, metadata };
    expect(await viaAnthropic.batches.retrieve(id)).toMatchObject(kept);
    expect(await viaAnthropic.batches.cancel(id)).toMatchObject({ ...kept, status: 'cancelling' });
    upstream.on('/v1/messages/batches', json({ data: [], has_more: false }));
    await viaAnthropic.batches.list({ after: id });
    expect(upstream.last.url).toContain('after_id=msgbatch_1');
    expect(upstream.last.url).not.toContain(id);
    const forged = `msgbatch_1.${Buffer.from(JSON.stringify(['../secret', { a: 1 }])).toString('base64url')}`;
    expect(await viaAnthropic.batches.retrieve(forged)).toMatchObject({ id: 'msgbatch_1', input_file_id: null, metadata: null });
    await expect(viaAnthropic.batches.retrieve('a%2F..%2Fb')).rejects.toMatchObject({ status: 400, param: 'id' });
  });

  it('report dropped metadata that would make an id too long', async () => {
    gateway.upstream.on('/v1/messages/batches', json(created));
    const file = await upload(JSON.stringify(line('a')));
    const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`key-${i}`, 'x'.repeat(500)]));
    const { data, response } = await create(file.id, { metadata }).withResponse();
    expect(response.headers.get('x-svc-dropped-params')).toBe('metadata');
    expect(data).toMatchObject({ input_file_id: file.id, metadata: null });
    expect(data.id.length).toBeLessThan(200);
  });

  it('are rejected if the provider could not accept a line, naming the line', async () => {
    gateway.upstream.on('/v1/messages/batches', json(created));
    const file = await upload(JSON.stringify(line('no blanks here')));
    await expect(create(file.id)).rejects.toMatchObject({ status: 400, param: 'custom_id' });
  });

  it('return their results as chat completions, line by line', async () => {
    const { upstream } = gateway;
    const counts = { processing: 0, succeeded: 1, errored: 1, canceled: 0, expired: 0 };
    const ended = { ...created, processing_status: 'ended', ended_at: '2026-01-01T01:00:00Z', request_counts: counts };
    upstream.on('/v1/messages/batches/msgbatch_1', json(ended));
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 3, output_tokens: 2 },
    };
    const results = [
      { custom_id: 'a', result: { type: 'succeeded', message } },
      {
        custom_id: 'b',
        result: { type: 'errored', error: { type: 'error', error: { type: 'invalid_request_error', message: 'no' } } },
      },
    ];
    upstream.on(
      '/v1/messages/batches/msgbatch_1/results',
      reply(200, results.map((one) => JSON.stringify(one)).join('\n'), { 'content-type': 'application/x-jsonl' }),
    );
    expect(await viaAnthropic.batches.retrieve('msgbatch_1')).toMatchObject({
      status: 'completed',
      completed_at: 1767229200,
      request_counts: { total: 2, completed: 1, failed: 1 },
    });
    const output = (await viaAnthropic.get('/batches/msgbatch_1/output', { __binaryResponse: true })) as Response;
    expect(lines(await output.text())).toMatchObject([
      {
        custom_id: 'a',
        response: { status_code: 200, body: { object: 'chat.completion', choices: [{ message: { content: 'Hi' } }] } },
        error: null,
      },
      { custom_id: 'b', response: null, error: { code: 'invalid_request_error', message: 'no' } },
    ]);
  });
});

describe('message batches in the format of Anthropic', () => {
  it('return their results at the gateway, with the routing headers of the caller', async () => {
    const { upstream } = gateway;
    const path = '/v1/messages/batches/msgbatch_1';
    const ended = { id: 'msgbatch_1', processing_status: 'ended', results_url: `https://api.anthropic.com${path}/results` };
    const result = { custom_id: 'a', result: { type: 'canceled' } };
    upstream.on(path, json(ended));
    upstream.on(`${path}/results`, reply(200, `${JSON.stringify(result)}\n`, { 'content-type': 'application/x-jsonl' }));
    const native = new Anthropic({
      baseURL: new URL(gateway.baseUrl).origin,
      apiKey: (await gateway.admin.createKey()).key,
      maxRetries: 0,
      defaultHeaders: { 'x-svc-provider': '@ant' },
    });
    expect((await native.messages.batches.retrieve('msgbatch_1')).results_url).toBe(
      `${gateway.baseUrl}/messages/batches/msgbatch_1/results`,
    );
    const results: unknown[] = [];
    for await (const one of await native.messages.batches.results('msgbatch_1')) results.push(one);
    expect(results).toEqual([result]);
    expect(upstream.last.header('x-api-key')).toBe(storedKeys.anthropic);
  });
});

describe('batch jobs of mistral in the format of OpenAI', () => {
  it('can be created with the model of options or of a header, and read with their output', async () => {
    const { upstream } = gateway;
    const job = {
      id: 'job-1',
      object: 'batch',
      status: 'SUCCESS',
      input_files: ['f-1'],
      output_file: 'f-2',
      endpoint: '/v1/chat/completions',
      total_requests: 1,
      succeeded_requests: 1,
      failed_requests: 0,
      created_at: 1,
      started_at: 2,
      completed_at: 3,
    };
    upstream.on('/v1/batch/jobs', json({ ...job, status: 'QUEUED' }));
    upstream.on('/v1/batch/jobs/job-1', json(job));
    upstream.on('/v1/files/f-2/content', reply(200, '{"custom_id":"a"}\n', { 'content-type': 'application/jsonl' }));
    const batch = await viaMistral.batches.create({
      input_file_id: 'f-1',
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
      provider_options: { model: 'mistral-small-latest' },
    } as never);
    expect(batch.status).toBe('validating');
    expect(JSON.parse(upstream.last.text)).toEqual({
      input_files: ['f-1'],
      endpoint: '/v1/chat/completions',
      timeout_hours: 24,
      model: 'mistral-small-latest',
    });
    await viaMistral.batches.create(
      { input_file_id: 'f-1', endpoint: '/v1/chat/completions', completion_window: '24h' },
      { headers: { 'x-svc-provider-model': 'mistral-large-latest' } },
    );
    expect(JSON.parse(upstream.last.text).model).toBe('mistral-large-latest');
    expect(await viaMistral.batches.retrieve('job-1')).toMatchObject({
      status: 'completed',
      output_file_id: 'f-2',
      completed_at: 3,
    });
    const output = (await viaMistral.get('/batches/job-1/output', { __binaryResponse: true })) as Response;
    expect(lines(await output.text())).toEqual([{ custom_id: 'a' }]);
  });
});

import { once } from 'node:events';
import avro from 'avsc';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { type SharedGatewayWithUpstream, shareGatewayWithUpstream } from '../../support/product/gateway-with-upstream.ts';
import { reply } from '../../support/upstream/fake-upstream.ts';

/** Batches of Cohere in OpenAI's format, through the official client. */
let gateway: SharedGatewayWithUpstream;
let client: OpenAI;
/** Names no provider, so its files stay in the service. */
let keeper: OpenAI;

beforeAll(async () => {
  gateway = await shareGatewayWithUpstream();
  await gateway.admin.createUpstream('co', gateway.upstream.origin, { ai_provider_id: 'cohere', key: 'co-key' });
  client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: await gateway.keyFor({ provider: '@co' }), maxRetries: 0 });
  keeper = new OpenAI({ baseURL: gateway.baseUrl, apiKey: gateway.workspaceKey, maxRetries: 0 });
});
afterAll(() => gateway?.close());
afterEach(() => gateway?.upstream.reset());

const json = (body: object, status = 200) => reply(status, body as never);
const batch = {
  id: 'b-1',
  name: 'svc-batch-1',
  creator_id: 'u',
  org_id: 'o',
  status: 'BATCH_STATUS_QUEUED',
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  input_dataset_id: 'in-1',
  output_dataset_id: '',
  input_tokens: '0',
  output_tokens: '0',
  model: 'command-a-03-2025',
  num_records: 2,
  num_successful_records: 0,
  num_failed_records: 0,
};
const done = {
  ...batch,
  status: 'BATCH_STATUS_COMPLETED',
  updated_at: '2026-01-01T01:00:00Z',
  output_dataset_id: 'out-1',
  input_tokens: '12',
  output_tokens: '7',
  num_successful_records: 1,
  num_failed_records: 1,
};
const dataset = (id: string, more: JsonObject = {}) => ({
  dataset: {
    id,
    name: 'svc-batch',
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    dataset_type: 'batch-chat-v2-input',
    validation_status: 'validated',
    ...more,
  },
});
const line = (id: string, body: JsonObject, url = '/v1/chat/completions') =>
  JSON.stringify({ custom_id: id, method: 'POST', url, body: { model: '@co/command-a-03-2025', ...body } });

async function create(text: string, endpoint: '/v1/chat/completions' | '/v1/embeddings' = '/v1/chat/completions') {
  const { id } = await keeper.files.create({ file: new File([text], 'in.jsonl'), purpose: 'batch' });
  return client.batches.create({ input_file_id: id, endpoint, completion_window: '24h', metadata: { a: 'b' } });
}

/** The lines of the uploaded dataset, and its parameters. */
async function uploaded() {
  const request = gateway.upstream.requests.find(({ method, url }) => method === 'POST' && url.startsWith('/v1/datasets'));
  if (!request) throw new Error('no dataset was made');
  const form = await new Response(new Uint8Array(request.body), {
    headers: { 'content-type': request.header('content-type') ?? '' },
  }).formData();
  const text = await (form.get('data') as File).text();
  const query = new URL(request.url, 'http://x').searchParams;
  return {
    query,
    lines: text
      .trimEnd()
      .split('\n')
      .map((one) => JSON.parse(one)),
  };
}

/** An Avro file of rows as the provider writes them. */
async function avroFile(rows: readonly JsonObject[], type: unknown): Promise<Buffer> {
  const encoder = new avro.streams.BlockEncoder(type as never, { codec: 'deflate' });
  const chunks: Buffer[] = [];
  encoder.on('data', (chunk: Buffer) => chunks.push(chunk));
  for (const row of rows) encoder.write(row);
  encoder.end();
  await once(encoder, 'end');
  return Buffer.concat(chunks);
}

describe('files of cohere', () => {
  const upload = (text: string, purpose = 'batch', headers = {}) =>
    client.files.create({ file: new File([text], 'in put.jsonl'), purpose: purpose as 'batch' }, { headers });

  it('are datasets: an upload for batches is converted, and a batch uses it unchanged', async () => {
    const { upstream } = gateway;
    upstream.on(({ url }) => url.startsWith('/v1/datasets?'), json({ id: 'in-1' }));
    const text = `${line('a', { max_tokens: 9, messages: [{ role: 'user', content: 'Grüße' }] })}\n`;
    expect(await upload(text)).toEqual({
      id: 'in-1',
      object: 'file',
      bytes: Buffer.byteLength(text),
      created_at: expect.any(Number),
      filename: 'in put.jsonl',
      purpose: 'batch',
      status: 'uploaded',
    });
    const { query, lines } = await uploaded();
    expect(lines).toEqual([
      { custom_id: 'a', body: { max_tokens: 9, messages: [{ role: 'user', content: [{ type: 'text', text: 'Grüße' }] }] } },
    ]);
    expect(query.get('type')).toBe('batch-chat-v2-input');
    const there = dataset('in-1', { name: query.get('name') });
    upstream.on('/v1/datasets/in-1', json(there));
    upstream.once('/v1/datasets/in-1', json(dataset('in-1', { validation_status: 'processing' })));
    upstream.on('/v2/batches', json({ batch }));
    const body = { input_file_id: 'in-1', endpoint: '/v1/chat/completions', completion_window: '24h' } as const;
    expect(await client.batches.create({ ...body, metadata: { a: 'b' } })).toMatchObject({
      input_file_id: 'in-1',
      metadata: { a: 'b' },
    });
    expect(JSON.parse(upstream.last.text)).toMatchObject({ input_dataset_id: 'in-1', model: 'command-a-03-2025' });
    expect(await client.files.retrieve('in-1')).toMatchObject({
      filename: 'in_put.jsonl',
      purpose: 'batch',
      status: 'processed',
    });
    await expect(client.files.content('in-1')).rejects.toMatchObject({ status: 400, param: 'id' });
  });

  it('have the model, endpoint and name of the headers', async () => {
    gateway.upstream.on(({ url }) => url.startsWith('/v1/datasets?'), json({ id: 'in-1' }));
    const headers = {
      'x-svc-provider-model': 'embed-v4.0',
      'x-svc-provider-batch-endpoint': '/v1/embeddings',
      'x-svc-provider-file-name': 'mine',
    };
    await upload(JSON.stringify({ custom_id: 'a', body: { input: ['x'] } }), 'batch', headers);
    const { query, lines } = await uploaded();
    expect(query.get('type')).toBe('batch-embed-v2-input');
    expect(query.get('name')).toBe(`svc-embed.${Buffer.from('embed-v4.0').toString('base64url')}.mine`);
    expect(lines[0].body.texts).toEqual(['x']);
  });

  it.each([
    ['fine-tune', 'chat-finetune-input'],
    ['embed-input', 'embed-input'],
  ])('for %s are datasets of type %s, with unchanged bytes', async (purpose, type) => {
    gateway.upstream.on(({ url }) => url.startsWith('/v1/datasets?'), json({ id: 'in-1' }));
    expect(await upload('{"a":1}\n', purpose)).toMatchObject({ id: 'in-1', purpose });
    const { query, lines } = await uploaded();
    expect(Object.fromEntries(query)).toEqual({ name: 'in_put.jsonl', type });
    expect(lines).toEqual([{ a: 1 }]);
  });

  it.each([
    ['a purpose without a dataset type', '{}', 'assistants', 'purpose'],
    ['a line that is not JSON', 'no json', 'batch', 'file line 1'],
    ['no lines', '\n', 'batch', 'file'],
    ['an endpoint without batches', line('a', {}, '/v1/responses'), 'batch', 'endpoint'],
    ['two models', `${line('a', { messages: [] })}\n${line('b', { messages: [], model: 'other' })}`, 'batch', 'b: model'],
  ])('with %s are rejected, and no dataset remains', async (_, text, purpose, param) => {
    const { upstream } = gateway;
    upstream.on(({ url }) => url.startsWith('/v1/datasets?'), json({ id: 'in-1' }));
    await expect(upload(text, purpose)).rejects.toMatchObject({ status: 400, param });
    expect(await leftBehind()).toEqual([]);
  });

  /** Datasets whose form was complete. */
  const leftBehind = async () => {
    const whole: string[] = [];
    for (const request of gateway.upstream.requests) if ((await request.closed) === 'replied') whole.push(request.url);
    return whole;
  };

  it('are listed over all pages, by purpose, and deleted', async () => {
    const { upstream } = gateway;
    const all = Array.from(
      { length: 103 },
      (_, i) => dataset(`d-${i}`, i === 101 ? { dataset_type: 'embed-input' } : {}).dataset,
    );
    const page = (from: number) => json({ datasets: all.slice(from, from + 100) });
    upstream.on('/v1/datasets', page(0));
    upstream.on(({ url }) => url === '/v1/datasets?limit=100&offset=0', page(0));
    upstream.on(({ url }) => url === '/v1/datasets?limit=100&offset=100', page(100));
    const ids: string[] = [];
    for await (const { id } of client.files.list({ purpose: 'batch', limit: 60 })) ids.push(id);
    expect(ids).toEqual(all.map(({ id }) => id).filter((id) => id !== 'd-101'));
    upstream.on('/v1/datasets/d-1', json({}));
    expect(await client.files.delete('d-1')).toEqual({ id: 'd-1', object: 'file', deleted: true });
    expect(upstream.last.method).toBe('DELETE');
  });
});

describe('batches of cohere', () => {
  it('can be created from a file of the service after the provider has validated it', async () => {
    const { upstream } = gateway;
    upstream.on(({ url }) => url.startsWith('/v1/datasets?'), json({ id: 'in-1' }));
    upstream.on('/v1/datasets/in-1', json(dataset('in-1')));
    upstream.once('/v1/datasets/in-1', json(dataset('in-1', { validation_status: 'processing' })));
    upstream.on('/v2/batches', json({ batch }));
    const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } };
    const made = await create(
      [
        line('a', { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], tools: [tool] }),
        line('b', {
          top_p: 0.5,
          messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }] }],
        }),
      ].join('\n'),
    );
    expect(made).toMatchObject({
      id: 'b-1',
      status: 'validating',
      endpoint: '/v1/chat/completions',
      metadata: { a: 'b' },
      input_file_id: expect.stringMatching(/^svc_file_/),
    });
    const { query, lines } = await uploaded();
    expect(query.get('type')).toBe('batch-chat-v2-input');
    expect(query.get('keep_fields')).toBe('custom_id');
    const schema = JSON.stringify(tool.function.parameters);
    expect(lines).toEqual([
      {
        custom_id: 'a',
        body: {
          max_tokens: 9,
          messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
          tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
        },
      },
      {
        custom_id: 'b',
        body: { p: 0.5, messages: [{ role: 'user', content: [{ type: 'image_url', image_url: 'https://x.test/a.png' }] }] },
      },
    ]);
    const { last } = upstream;
    expect(JSON.parse(last.text)).toEqual({
      name: expect.stringMatching(/^svc-batch-chat-/),
      input_dataset_id: 'in-1',
      model: 'command-a-03-2025',
    });
    expect(last.header('authorization')).toBe('Bearer co-key');
  });

  it.each([
    ['response_format', line('a', { messages: [], response_format: { type: 'json_object' } }), 'response_format'],
    ['two models', `${line('a', { messages: [] })}\n${line('b', { messages: [], model: 'other' })}`, 'model'],
    ['no lines', '\n', 'input_file_id'],
  ])('are rejected if the provider could not accept them: %s', async (_, text, named) => {
    gateway.upstream.on(({ url }) => url.startsWith('/v1/datasets?'), json({ id: 'in-1' }));
    await expect(create(text)).rejects.toMatchObject({ status: 400, message: expect.stringContaining(named) });
    expect(gateway.upstream.requests.some(({ url }) => url.startsWith('/v2/batches'))).toBe(false);
  });

  it('leave no dataset that the provider rejected', async () => {
    const { upstream } = gateway;
    upstream.on(({ url }) => url.startsWith('/v1/datasets?'), json({ id: 'in-1' }));
    upstream.on('/v1/datasets/in-1', json(dataset('in-1', { validation_status: 'failed', validation_error: 'row 1: no' })));
    await expect(create(line('a', { messages: [{ role: 'user', content: 'x' }] }))).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('row 1: no'),
    });
    expect(upstream.last).toMatchObject({ method: 'DELETE', url: '/v1/datasets/in-1' });
  });

  it('can embed', async () => {
    const { upstream } = gateway;
    upstream.on(({ url }) => url.startsWith('/v1/datasets?'), json({ id: 'in-1' }));
    upstream.on('/v1/datasets/in-1', json(dataset('in-1')));
    upstream.on('/v2/batches', json({ batch }));
    await create(line('a', { model: 'embed-v4.0', input: ['x'] }, '/v1/embeddings'), '/v1/embeddings');
    const { query, lines } = await uploaded();
    expect(query.get('type')).toBe('batch-embed-v2-input');
    expect(lines[0].body).toMatchObject({ texts: ['x'], input_type: 'search_document', embedding_types: ['float'] });
    expect(JSON.parse(upstream.last.text).model).toBe('embed-v4.0');
  });

  it('are listed, read and cancelled', async () => {
    const { upstream } = gateway;
    upstream.on(({ url }) => url.startsWith('/v2/batches?'), json({ batches: [done, batch], next_page_token: '' }));
    upstream.on('/v2/batches/b-1', json({ batch: done }));
    expect((await client.batches.list({ limit: 1 })).data.map(({ status }) => status)).toEqual(['completed']);
    expect(await client.batches.retrieve('b-1')).toMatchObject({
      status: 'completed',
      completed_at: 1767229200,
      output_file_id: 'out-1',
      request_counts: { total: 2, completed: 1, failed: 1 },
      usage: { input_tokens: 12, output_tokens: 7, total_tokens: 19 },
    });
    upstream.on('/v2/batches/b-1:cancel', json({}));
    upstream.on('/v2/batches/b-1', json({ batch: { ...batch, status: 'BATCH_STATUS_CANCELING' } }));
    expect((await client.batches.cancel('b-1')).status).toBe('cancelling');
  });

  it('return their output as chat completions, and its link gets no credential', async () => {
    const { upstream } = gateway;
    const body = {
      id: 'r-1',
      finish_reason: 'COMPLETE',
      message: { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] },
      usage: { tokens: { input_tokens: 12, output_tokens: 7 } },
    };
    const inType = (name: string, fields: JsonObject) => ({
      type: 'record',
      name,
      fields: Object.entries(fields).map(([field, type]) => ({ name: field, type })),
    });
    const bytes = await avroFile(
      [
        { custom_id: 'b', error: 'Invalid request', body: null },
        { custom_id: 'a', error: '', body },
      ],
      inType('Row', {
        custom_id: 'string',
        error: 'string',
        body: [
          'null',
          inType('Body', {
            id: 'string',
            finish_reason: 'string',
            message: inType('Message', {
              role: 'string',
              content: { type: 'array', items: inType('Part', { type: 'string', text: 'string' }) },
            }),
            usage: inType('Usage', { tokens: inType('Tokens', { input_tokens: 'double', output_tokens: 'double' }) }),
          }),
        ],
      }),
    );
    const link = '/bucket/out.avro?X-Goog-Signature=s';
    const part = { id: 'p', name: 'p', url: upstream.origin + link, index: 0, size_bytes: bytes.length };
    upstream.on('/v2/batches/b-1', json({ batch: done }));
    upstream.on('/v1/datasets/out-1', json(dataset('out-1', { dataset_parts: [part] })));
    upstream.on('/bucket/out.avro', reply(200, bytes as never, { 'content-type': 'application/octet-stream' }));
    const output = (await client.get('/batches/b-1/output', { __binaryResponse: true })) as Response;
    const lines = (await output.text())
      .trimEnd()
      .split('\n')
      .map((one) => JSON.parse(one));
    expect(lines).toMatchObject([
      { custom_id: 'b', response: null, error: { code: 'failed', message: 'Invalid request' } },
      {
        custom_id: 'a',
        error: null,
        response: {
          status_code: 200,
          body: {
            object: 'chat.completion',
            model: 'command-a-03-2025',
            choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }],
            usage: { prompt_tokens: 12, completion_tokens: 7 },
          },
        },
      },
    ]);
    expect(upstream.last.url).toBe(link);
    expect(upstream.last.header('authorization')).toBeUndefined();
    expect(await client.files.retrieve('out-1')).toMatchObject({ id: 'out-1', bytes: bytes.length, status: 'processed' });
    const content = (await (await client.files.content('out-1')).text()).trimEnd().split('\n');
    expect(content.map((one) => JSON.parse(one).custom_id)).toEqual(['b', 'a']);
  });

  it('do not follow links to other hosts', async () => {
    const { upstream } = gateway;
    upstream.on('/v2/batches/b-1', json({ batch: done }));
    upstream.on('/v1/datasets/out-1', json(dataset('out-1', { dataset_parts: [{ url: 'https://169.254.169.254/latest' }] })));
    await expect(client.get('/batches/b-1/output')).rejects.toMatchObject({ status: 502 });
  });

  it('have no output before their end', async () => {
    gateway.upstream.on('/v2/batches/b-1', json({ batch }));
    await expect(client.get('/batches/b-1/output')).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('validating'),
    });
  });
});

import OpenAI, { toFile } from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { type SharedGatewayWithUpstream, shareGatewayWithUpstream } from '../../support/product/gateway-with-upstream.ts';
import { patternBytes } from '../../support/samples/pattern-bytes.ts';
import { reply } from '../../support/upstream/fake-upstream.ts';

/** Files, batches and fine-tuning jobs of further providers, through the official client. */
let gateway: SharedGatewayWithUpstream;

/** Integrations with the fake upstream: the settings of each, and the prefix of OpenAI's paths there. */
const openAiLike = {
  groq: { ai_provider_id: 'groq', base: '/v1', configurations: {} },
  'kluster-ai': { ai_provider_id: 'kluster-ai', base: '/v1', configurations: {} },
  'azure-openai': {
    ai_provider_id: 'azure-openai',
    base: '/openai/v1',
    configurations: {
      azure_auth_mode: 'default',
      azure_resource_name: 'contoso',
      azure_deployment_config: [
        {
          azure_deployment_name: 'd',
          azure_api_version: 'v1',
          azure_model_slug: 'gpt-4o',
          alias: 'd',
          is_default: true,
        },
      ],
    },
  },
  'azure-ai': { ai_provider_id: 'azure-ai', base: '/openai/v1', configurations: { azure_auth_mode: 'default' } },
} as const;

beforeAll(async () => {
  gateway = await shareGatewayWithUpstream();
});
afterAll(() => gateway?.close());
afterEach(() => gateway?.upstream.reset());

async function clientOf(slug: string, providerId: string, configurations: JsonObject): Promise<OpenAI> {
  await gateway.admin.createUpstream(slug, '', { ai_provider_id: providerId, key: `${slug}-key`, configurations });
  return new OpenAI({ baseURL: gateway.baseUrl, apiKey: await gateway.keyFor({ provider: `@${slug}` }), maxRetries: 0 });
}

const json = (body: object, status = 200) => reply(status, body as never);
const path = (url: string): string => url.split('?')[0] as string;

describe.each(Object.entries(openAiLike))('files and batches of %s', (name, { ai_provider_id: id, base, configurations }) => {
  let client: OpenAI;
  beforeAll(async () => {
    const { origin } = gateway.upstream;
    const host =
      id === 'azure-ai' ? { azure_foundry_url: origin } : { custom_host: id === 'azure-openai' ? origin : `${origin}/v1` };
    client = await clientOf(`kept-${name}`, id, { ...configurations, ...host });
  });

  it('get the unchanged upload and a batch from it', async () => {
    const { upstream } = gateway;
    const file = { id: 'file-1', object: 'file', bytes: 200_000, created_at: 1, filename: 'in.jsonl', purpose: 'batch' };
    const batch = {
      id: 'batch_1',
      object: 'batch',
      status: 'in_progress',
      input_file_id: 'file-1',
      endpoint: '/v1/chat/completions',
    };
    upstream.on(`${base}/files`, json(file));
    upstream.on(`${base}/batches`, json(batch));
    const bytes = patternBytes(200_000);
    expect((await client.files.create({ file: await toFile(bytes, 'in.jsonl'), purpose: 'batch' })).id).toBe('file-1');
    const { last } = upstream;
    const key = `kept-${name}-key`;
    expect(last.header('api-key') ?? last.header('authorization')).toBe(id.startsWith('azure') ? key : `Bearer ${key}`);
    const form = await new Response(new Uint8Array(last.body), {
      headers: { 'content-type': last.header('content-type') ?? '' },
    }).formData();
    expect(Buffer.from(await (form.get('file') as File).arrayBuffer()).equals(bytes)).toBe(true);
    const body = { input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' } as const;
    expect(await client.batches.create(body)).toEqual(batch);
    expect(JSON.parse(upstream.last.text)).toEqual(body);
  });

  it('can be listed, deleted and cancelled, and the output of a batch is one stream', async () => {
    const { upstream } = gateway;
    const done = { id: 'batch_1', object: 'batch', status: 'completed', output_file_id: 'file-2', error_file_id: 'file-3' };
    upstream.on(`${base}/files`, json({ object: 'list', data: [{ id: 'file-1' }], has_more: false }));
    upstream.on(`${base}/files/file-1`, json({ id: 'file-1', object: 'file', deleted: true }));
    upstream.on(`${base}/batches`, json({ object: 'list', data: [done], has_more: false }));
    upstream.on(`${base}/batches/batch_1`, json(done));
    upstream.on(`${base}/batches/batch_1/cancel`, json({ ...done, status: 'cancelling' }));
    upstream.on(`${base}/files/file-2/content`, reply(200, '{"custom_id":"a"}', { 'content-type': 'application/jsonl' }));
    upstream.on(`${base}/files/file-3/content`, reply(200, '{"custom_id":"b"}\n', { 'content-type': 'application/jsonl' }));
    expect((await client.files.list()).data).toEqual([{ id: 'file-1' }]);
    expect(await client.files.delete('file-1')).toMatchObject({ deleted: true });
    expect((await client.batches.list()).data).toEqual([done]);
    expect((await client.batches.cancel('batch_1')).status).toBe('cancelling');
    const output = (await client.get('/batches/batch_1/output', { __binaryResponse: true })) as Response;
    expect(await output.text()).toBe('{"custom_id":"a"}\n{"custom_id":"b"}\n');
  });
});

describe('fine-tuning jobs of azure-ai', () => {
  it('can be created and cancelled in its resource', async () => {
    const { upstream } = gateway;
    const client = await clientOf('foundry-jobs', 'azure-ai', { azure_auth_mode: 'default', azure_foundry_url: upstream.origin });
    const job = { id: 'ftjob-1', object: 'fine_tuning.job', status: 'running' };
    upstream.on('/openai/v1/fine_tuning/jobs', json(job));
    upstream.on('/openai/v1/fine_tuning/jobs/ftjob-1/cancel', json({ ...job, status: 'cancelled' }));
    expect((await client.fineTuning.jobs.create({ model: 'gpt-4o-mini', training_file: 'file-1' })).id).toBe('ftjob-1');
    expect((await client.fineTuning.jobs.cancel('ftjob-1')).status).toBe('cancelled');
  });
});

describe('datasets and supervised jobs of fireworks-ai in the format of OpenAI', () => {
  const dataset = {
    name: 'accounts/acme/datasets/d-1',
    displayName: 'train.jsonl',
    createTime: '2026-01-01T00:00:00Z',
    state: 'READY',
    status: { code: 'OK', message: '' },
    exampleCount: '3',
    userUploaded: {},
    format: 'CHAT',
  };
  const job = {
    name: 'accounts/acme/supervisedFineTuningJobs/j-1',
    displayName: 'mine',
    createTime: '2026-01-01T00:00:00Z',
    completedTime: '2026-01-01T01:00:00Z',
    dataset: 'accounts/acme/datasets/d-1',
    state: 'JOB_STATE_COMPLETED',
    status: { code: 'OK', message: '' },
    outputModel: 'accounts/acme/models/mine',
    baseModel: 'accounts/fireworks/models/llama-v3p1-8b-instruct',
    epochs: 2,
  };
  let client: OpenAI;
  beforeAll(async () => {
    const host = `${gateway.upstream.origin}/inference/v1`;
    client = await clientOf('fw', 'fireworks-ai', { custom_host: host, fireworks_account_id: 'acme' });
  });

  it('include an upload that creates a dataset and sends the unchanged form', async () => {
    const { upstream } = gateway;
    upstream.on('/v1/accounts/acme/datasets', json({ ...dataset, state: 'UPLOADING' }));
    upstream.on(
      ({ url }) => path(url).endsWith(':upload'),
      json({ id: 'x', object: 'file', bytes: 400_000, created_at: 7, filename: 'train.jsonl' }),
    );
    const bytes = patternBytes(400_000);
    const file = await client.files.create({ file: await toFile(bytes, 'train.jsonl'), purpose: 'fine-tune' });
    const [made, filled] = upstream.requests;
    const { datasetId } = JSON.parse(made?.text ?? '');
    expect(datasetId).toMatch(/^file-[a-z0-9-]{1,57}[a-z0-9]$/);
    expect(JSON.parse(made?.text ?? '')).toEqual({ datasetId, dataset: { userUploaded: {} } });
    expect(filled?.url).toBe(`/v1/accounts/acme/datasets/${datasetId}:upload`);
    expect(filled?.header('authorization')).toBe('Bearer fw-key');
    const form = await new Response(new Uint8Array(filled?.body ?? []), {
      headers: { 'content-type': filled?.header('content-type') ?? '' },
    }).formData();
    expect(Buffer.from(await (form.get('file') as File).arrayBuffer()).equals(bytes)).toBe(true);
    expect(file).toMatchObject({ id: datasetId, object: 'file', bytes: 400_000, filename: 'train.jsonl', status: 'uploaded' });
  });

  it('exclude a dataset whose upload failed, which is deleted', async () => {
    const { upstream } = gateway;
    upstream.on('/v1/accounts/acme/datasets', json(dataset));
    upstream.on(({ url }) => path(url).endsWith(':upload'), json({ code: 3, message: 'line 1 is no JSON', details: [] }, 400));
    upstream.on(({ method }) => method === 'DELETE', json({}));
    await expect(client.files.create({ file: new File(['x'], 'a.jsonl'), purpose: 'fine-tune' })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('line 1 is no JSON'),
    });
    expect(upstream.requests.map(({ method }) => method)).toEqual(['POST', 'POST', 'DELETE']);
  });

  it('are listed over all pages of the provider', async () => {
    const { upstream } = gateway;
    const named = (id: string) => ({ ...dataset, name: `accounts/acme/datasets/${id}` });
    upstream.on(({ url }) => url.includes('pageToken=two'), json({ datasets: [named('d-3')], nextPageToken: '', totalSize: 3 }));
    upstream.on(({ url }) => !url.includes('pageToken'), json({ datasets: [named('d-1'), named('d-2')], nextPageToken: 'two' }));
    const ids: string[] = [];
    for await (const file of client.files.list({ limit: 1 })) ids.push(file.id);
    expect(ids).toEqual(['d-1', 'd-2', 'd-3']);
    upstream.on('/v1/accounts/acme/datasets/d-1', json(dataset));
    expect(await client.files.retrieve('d-1')).toMatchObject({
      id: 'd-1',
      filename: 'train.jsonl',
      created_at: 1767225600,
      purpose: 'fine-tune',
      status: 'processed',
    });
  });

  it('can be created, listed, read and cancelled', async () => {
    const { upstream } = gateway;
    const running = { ...job, state: 'JOB_STATE_RUNNING', completedTime: undefined };
    upstream.on('/v1/accounts/acme/supervisedFineTuningJobs', json(running));
    const made = await client.fineTuning.jobs.create({
      model: job.baseModel,
      training_file: 'd-1',
      suffix: 'mine',
      method: { type: 'supervised', supervised: { hyperparameters: { n_epochs: 2 } } },
      ...({ provider_options: { loraRank: 16 } } as object),
    });
    expect(JSON.parse(upstream.last.text)).toEqual({
      baseModel: job.baseModel,
      dataset: 'accounts/acme/datasets/d-1',
      displayName: 'mine',
      epochs: 2,
      loraRank: 16,
    });
    expect(made).toMatchObject({ id: 'j-1', status: 'running', fine_tuned_model: null, finished_at: null });
    upstream.on('/v1/accounts/acme/supervisedFineTuningJobs/j-1', json(job));
    expect(await client.fineTuning.jobs.retrieve('j-1')).toMatchObject({
      status: 'succeeded',
      fine_tuned_model: 'accounts/acme/models/mine',
      training_file: 'd-1',
      finished_at: 1767229200,
      hyperparameters: { n_epochs: 2 },
    });
    upstream.on('/v1/accounts/acme/supervisedFineTuningJobs', json({ supervisedFineTuningJobs: [job], nextPageToken: '' }));
    expect((await client.fineTuning.jobs.list()).data.map(({ id }) => id)).toEqual(['j-1']);
    upstream.on('/v1/accounts/acme/supervisedFineTuningJobs/j-1:cancel', json({}));
    upstream.on('/v1/accounts/acme/supervisedFineTuningJobs/j-1', json({ ...job, state: 'JOB_STATE_CANCELLED' }));
    expect((await client.fineTuning.jobs.cancel('j-1')).status).toBe('cancelled');
  });

  it('report unsupported parameters', async () => {
    const { upstream } = gateway;
    upstream.on('/v1/accounts/acme/supervisedFineTuningJobs', json(job));
    const { response } = await client.fineTuning.jobs
      .create({ model: 'm', training_file: 'd-1', seed: 7, hyperparameters: { batch_size: 4, n_epochs: 'auto' } })
      .withResponse();
    expect(response.headers.get('x-svc-dropped-params')).toBe('hyperparameters.batch_size, seed');
  });

  it('exclude files for batches, which stay in the service if the upload requests it', async () => {
    const file = await client.files.create(
      { file: new File(['{}'], 'in.jsonl'), purpose: 'batch' },
      { headers: { 'x-svc-file-purpose': 'batch' } },
    );
    expect(file.id).toMatch(/^svc_file_/);
    expect(gateway.upstream.requests).toHaveLength(0);
  });

  it('require an account', async () => {
    const nameless = await clientOf('fw-nameless', 'fireworks-ai', { custom_host: `${gateway.upstream.origin}/inference/v1` });
    await expect(nameless.files.list()).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('fireworks_account_id'),
    });
  });
});

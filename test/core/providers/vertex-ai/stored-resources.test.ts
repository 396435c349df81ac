import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { UpstreamCall } from '../../../../core/contract/provider/upstream.ts';
import { findHeader, type RequestBody } from '../../../../core/contract/values/http/http.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { createHarness, type Harness, replyWith, type Script } from '../../../../core/test-kit/pipeline-harness.ts';
import { openAiOver } from '../../../support/clients/clients-over-harness.ts';

/** Files, batches and tuning jobs in the project's bucket, through OpenAI's client, against the service's wire format. */
const project = {
  provider: 'vertex-ai',
  api_key: 'ya29.token',
  vertex_project_id: 'my-project',
  vertex_region: 'us-central1',
  vertex_storage_bucket_name: 'my-bucket',
};
const storage = 'https://storage.googleapis.com';
const location = '/v1/projects/my-project/locations/us-central1';

interface Opened {
  readonly harness: Harness;
  readonly client: OpenAI;
  /** The sent calls, by number. */
  readonly sent: string[];
  script(...replies: readonly (JsonObject | string)[]): void;
}

/** Scripted replies that first read the whole request, as a server does. */
function open(config: JsonObject = project): Opened {
  const harness = createHarness();
  harness.addConfig('gcp', config);
  const sent: string[] = [];
  const reading =
    (body: JsonObject | string): Script =>
    async (call, handler) => {
      try {
        sent[harness.calls.indexOf(call)] = Buffer.from(await bytesOf(call)).toString();
      } catch (error) {
        return handler.onError(error as never);
      }
      replyWith(200, body)(call, handler);
    };
  return {
    harness,
    sent,
    client: openAiOver(harness, { 'x-svc-config': 'gcp' }),
    script: (...replies) => harness.script(...replies.map(reading)),
  };
}

async function bytesOf(call: UpstreamCall): Promise<Uint8Array> {
  if (call.body === null || call.body instanceof Uint8Array) return call.body ?? new Uint8Array(0);
  return (call.body as RequestBody).bytes(1024 * 1024);
}

const jsonl = (...lines: object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');
const objects = (text: string | undefined) =>
  (text ?? '')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
const idOf = (key: string) => encodeURIComponent(`gs://my-bucket/${key}`);
const object = (name: string) => ({ name, bucket: 'my-bucket', size: '8', timeCreated: '2026-01-01T00:00:00.000Z' });

describe('a file in the Vertex AI bucket', () => {
  it('is uploaded unchanged and found by its id', async () => {
    const { harness, client, sent, script } = open();
    script(object('x'));
    const file = await client.files.create({ file: new File(['{"a":1}\n'], 'in put.jsonl'), purpose: 'batch' });
    const [call] = harness.calls as [UpstreamCall];
    expect([call.method, call.origin]).toEqual(['POST', storage]);
    const [, key = ''] =
      /^\/upload\/storage\/v1\/b\/my-bucket\/o\?uploadType=media&name=(svc-files%2Fbatch%2F[\w-]{36}%2Fin_put\.jsonl)$/.exec(
        call.path,
      ) ?? [];
    expect(sent[0]).toBe('{"a":1}\n');
    expect(findHeader(call.headers, 'authorization')).toBe('Bearer ya29.token');
    expect(file).toMatchObject({ id: idOf(decodeURIComponent(key)), bytes: 8, filename: 'in put.jsonl', purpose: 'batch' });

    script(object(decodeURIComponent(key)));
    expect(await client.files.retrieve(file.id)).toMatchObject({ id: file.id, bytes: 8, created_at: 1767225600 });
    expect(harness.calls.at(-1)).toMatchObject({ method: 'GET', path: `/storage/v1/b/my-bucket/o/${key}` });
    script('{"a":1}\n');
    expect(await (await client.files.content(file.id)).text()).toBe('{"a":1}\n');
    expect(harness.calls.at(-1)?.path).toBe(`/storage/v1/b/my-bucket/o/${key}?alt=media`);
  });

  it('has the name and length of its headers', async () => {
    const { harness, client, script } = open();
    script(object('mine/a.jsonl'));
    const upload = (size: string) =>
      client.files.create(
        { file: new File(['four'], 'a.jsonl'), purpose: 'batch' },
        { headers: { 'x-svc-provider-file-name': 'mine/a.jsonl', 'x-svc-file-upload-size': size } },
      );
    expect((await upload('4')).id).toBe(idOf('mine/a.jsonl'));
    expect(harness.calls[0]?.path).toContain('&name=mine%2Fa.jsonl');
    expect((harness.calls[0] as { body: RequestBody }).body.length).toBe(4);
    await expect(upload('5')).rejects.toMatchObject({ status: 400, param: 'file_upload_size' });
  });

  it('is listed page by page', async () => {
    const { harness, client, script } = open();
    const [a, b] = [object('svc-files/batch/1/a.jsonl'), object('svc-files/batch/2/b.jsonl')];
    script({ items: [a], nextPageToken: 't' }, { items: [a, b] });
    const found: string[] = [];
    for await (const file of client.files.list({ limit: 1 })) found.push(file.filename);
    expect(found).toEqual(['a.jsonl', 'b.jsonl']);
    expect(harness.calls[1]?.path).toContain('startOffset=svc-files%2Fbatch%2F1%2Fa.jsonl');
  });

  it('needs a bucket, and rejects ids of another one and a custom host', async () => {
    const { vertex_storage_bucket_name: _bucket, ...none } = project;
    await expect(open(none).client.files.list()).rejects.toMatchObject({ param: 'vertex_storage_bucket_name' });
    const other = open();
    await expect(other.client.files.retrieve('gs%3A%2F%2Fother-bucket%2Fa')).rejects.toMatchObject({ status: 400, param: 'id' });
    const moved = open({ ...project, custom_host: 'https://proxy.example' });
    await expect(moved.client.files.list()).rejects.toMatchObject({ param: 'custom_host' });
    expect([...other.harness.calls, ...moved.harness.calls]).toEqual([]);
  });
});

describe('a Vertex AI batch', () => {
  const long = `id-ÄÖ-${'x'.repeat(50)}`;
  const line = (id: string, model = '@gcp/gemini-2.5-flash') => ({
    custom_id: id,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
  });
  const create = (client: OpenAI, more: JsonObject = {}, headers: Record<string, string> = {}) =>
    client.batches.create(
      {
        input_file_id: idOf('svc-files/batch/1/in.jsonl'),
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
        ...more,
      },
      { headers },
    );
  const job = (more: JsonObject = {}): JsonObject => ({
    name: 'projects/123/locations/us-central1/batchPredictionJobs/4567',
    model: 'publishers/google/models/gemini-2.5-flash',
    state: 'JOB_STATE_PENDING',
    createTime: '2026-01-01T00:00:00Z',
    inputConfig: { instancesFormat: 'jsonl', gcsSource: { uris: ['gs://my-bucket/svc-batches/1/input.jsonl'] } },
    ...more,
  });
  const folder = (model: string) =>
    `svc-batches/1/chat.${Buffer.from(model).toString('base64url')}/prediction-model-2026-01-01T00:00:00Z`;

  it('has a file in the format of generateContent for Gemini, and its results have their ids', async () => {
    const { harness, client, sent, script } = open();
    script(jsonl(line('a'), line(long)), object('x'), object('note'), job());
    const batch = await create(client);
    const requests = objects(sent[1]);
    expect(requests).toMatchObject([
      { request: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], labels: { svc_id_0: '61' } } },
      { request: { generationConfig: { maxOutputTokens: 9 } } },
    ]);
    for (const label of Object.values(requests[1].request.labels)) expect(label).toMatch(/^[0-9a-f]{1,63}$/);
    expect(harness.calls[3]).toMatchObject({
      method: 'POST',
      origin: 'https://us-central1-aiplatform.googleapis.com',
      path: `${location}/batchPredictionJobs`,
    });
    expect(JSON.parse(sent[3] as string)).toMatchObject({
      model: 'publishers/google/models/gemini-2.5-flash',
      inputConfig: { instancesFormat: 'jsonl', gcsSource: { uris: [expect.stringMatching(/^gs:\/\/my-bucket\/svc-batches\//)] } },
      outputConfig: { predictionsFormat: 'jsonl' },
    });
    expect(batch).toMatchObject({ id: '4567', status: 'validating', created_at: 1767225600 });

    const directory = folder('gemini-2.5-flash');
    const response = {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    };
    script(
      job({ state: 'JOB_STATE_SUCCEEDED', outputInfo: { gcsOutputDirectory: `gs://my-bucket/${directory}` } }),
      { items: [object(`${directory}/predictions.jsonl`)] },
      jsonl(
        { status: '', processed_time: '2026-01-01T00:00:01Z', ...requests[1], response },
        { status: 'Bad Request: no', ...requests[0], response: {} },
        { status: '', ...requests[0], response: { error: { code: 429, message: 'Quota exceeded.' } } },
      ),
    );
    const output = (await client.get('/batches/4567/output', { __binaryResponse: true })) as Response;
    expect(objects(await output.text())).toMatchObject([
      {
        custom_id: long,
        response: { body: { object: 'chat.completion', choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }] } },
        error: null,
      },
      { custom_id: 'a', response: null, error: { message: 'Bad Request: no' } },
      { custom_id: 'a', response: null, error: { message: 'Quota exceeded.' } },
    ]);
  });

  it('keeps its input file and its metadata', async () => {
    const { harness, client, sent, script } = open();
    const metadata = { team: 'Größe' };
    const file = idOf('svc-files/batch/1/in.jsonl');
    script(jsonl(line('a')), object('x'), object('note'), job());
    expect(await create(client, { metadata })).toMatchObject({ input_file_id: file, metadata });
    const uris = ['gs://my-bucket/svc-batches/11111111-1111-4111-8111-111111111111/input.jsonl'];
    const made = job({ inputConfig: { instancesFormat: 'jsonl', gcsSource: { uris } } });
    const note = JSON.parse(sent[2] as string);
    script(made, note);
    expect(await client.batches.retrieve('4567')).toMatchObject({ input_file_id: file, metadata });
    expect(harness.calls.at(-1)?.path).toContain('svc-batches%2F11111111-1111-4111-8111-111111111111%2Fbatch.json?alt=media');
    script({ batchPredictionJobs: [made, job()] }, note);
    expect((await client.batches.list()).data).toMatchObject([{ input_file_id: file, metadata }, { metadata: null }]);
  });

  it('has the model of its headers, or of its upload’s headers', async () => {
    const { harness, client, sent, script } = open();
    const headers = { 'x-svc-provider-model': 'gemini-2.5-pro' };
    script(object('x'));
    const file = await client.files.create({ file: new File(['x'], 'in.jsonl'), purpose: 'batch' }, { headers });
    const { model: _model, ...body } = line('a').body;
    for (const [more, named] of [
      [{ input_file_id: file.id }, {}],
      [{}, headers],
    ]) {
      script(jsonl({ ...line('a'), body }), object('x'), object('note'), job());
      await create(client, more, named);
      expect(JSON.parse(sent[harness.calls.length - 1] as string).model).toBe('publishers/google/models/gemini-2.5-pro');
    }
  });

  it('has messages and ids for Claude', async () => {
    const { client, sent, script } = open();
    const model = 'claude-sonnet-4-5@20250929';
    script(jsonl(line('a', model)), object('x'), object('note'), job({ model: `publishers/anthropic/models/${model}` }));
    await create(client);
    expect(objects(sent[1])).toMatchObject([
      { custom_id: 'a', request: { anthropic_version: 'vertex-2023-10-16', max_tokens: 9, messages: [{ role: 'user' }] } },
    ]);
    expect(JSON.parse(sent[3] as string).model).toBe(`publishers/anthropic/models/${model}`);
    const message = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model,
      content: [{ type: 'text', text: 'Yes' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    script(jsonl({ custom_id: 'a', request: {}, response: message, status: '' }));
    const file = await client.files.content(idOf(`${folder(model)}/predictions.jsonl`));
    expect(objects(await file.text())).toMatchObject([
      { custom_id: 'a', response: { body: { choices: [{ message: { content: 'Yes' } }] } } },
    ]);
  });

  it('can be read, listed and cancelled by its number', async () => {
    const { harness, client, script } = open();
    const done = job({
      state: 'JOB_STATE_SUCCEEDED',
      endTime: '2026-01-01T01:00:00Z',
      outputInfo: { gcsOutputDirectory: `gs://my-bucket/${folder('gemini-2.5-flash')}` },
      completionStats: { successfulCount: '2', failedCount: '1', incompleteCount: '-1' },
    });
    script(done);
    expect(await client.batches.retrieve('4567')).toMatchObject({
      status: 'completed',
      completed_at: 1767229200,
      output_file_id: idOf(`${folder('gemini-2.5-flash')}/predictions.jsonl`),
      request_counts: { total: 3, completed: 2, failed: 1 },
    });
    script({ batchPredictionJobs: [done], nextPageToken: 't' }, done, { batchPredictionJobs: [job()] });
    const found: string[] = [];
    for await (const batch of client.batches.list({ limit: 1 })) found.push(batch.status);
    expect(found).toEqual(['completed', 'validating']);
    expect(new URLSearchParams(harness.calls.at(-1)?.path.split('?')[1]).get('filter')).toBe(
      'create_time<"2026-01-01T00:00:00Z"',
    );
    script({}, job({ state: 'JOB_STATE_CANCELLING' }));
    expect((await client.batches.cancel('4567')).status).toBe('cancelling');
    expect(harness.calls.at(-2)).toMatchObject({ method: 'POST', path: `${location}/batchPredictionJobs/4567:cancel` });
    const count = harness.calls.length;
    await expect(client.batches.retrieve('4567:cancel')).rejects.toMatchObject({ status: 400, param: 'id' });
    expect(harness.calls).toHaveLength(count);
  });

  it('with two models, or an unsupported model, is rejected without a job', async () => {
    const { harness, client, script } = open();
    script(jsonl(line('a'), line('b', 'gemini-2.5-pro')), object('x'));
    await expect(create(client)).rejects.toMatchObject({ status: 400, param: 'input_file_id' });
    script(jsonl(line('a', 'meta/llama-4-maas')));
    await expect(create(client)).rejects.toMatchObject({ status: 400, param: 'model' });
    expect(harness.calls.filter(({ origin }) => origin !== storage)).toEqual([]);
  });
});

describe('a Vertex AI fine-tuning job', () => {
  const job = (more: JsonObject = {}): JsonObject => ({
    name: 'projects/123/locations/us-central1/tuningJobs/89',
    state: 'JOB_STATE_PENDING',
    baseModel: 'gemini-2.5-flash',
    createTime: '2026-01-01T00:00:00Z',
    supervisedTuningSpec: { trainingDatasetUri: 'gs://my-bucket/t.jsonl', hyperParameters: { epochCount: '2' } },
    ...more,
  });

  it('has its contents in the format of Gemini', async () => {
    const { harness, client, sent, script } = open();
    const messages = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
    ];
    script(jsonl({ messages }), object('x'), job());
    const made = await client.fineTuning.jobs.create({
      model: 'gemini-2.5-flash',
      training_file: idOf('svc-files/fine-tune/1/t.jsonl'),
      suffix: 'mine',
      hyperparameters: { n_epochs: 2, learning_rate_multiplier: 0.5 },
    });
    expect(objects(sent[1])).toEqual([
      {
        systemInstruction: expect.objectContaining({ parts: [{ text: 'Be kind.' }] }),
        contents: [
          { role: 'user', parts: [{ text: 'Hi' }] },
          { role: 'model', parts: [{ text: 'Hello' }] },
        ],
      },
    ]);
    expect(harness.calls[2]?.path).toBe(`${location}/tuningJobs`);
    expect(JSON.parse(sent[2] as string)).toEqual({
      baseModel: 'gemini-2.5-flash',
      tunedModelDisplayName: 'mine',
      supervisedTuningSpec: {
        trainingDatasetUri: expect.stringMatching(/^gs:\/\/my-bucket\/svc-fine-tuning\/[\w-]{36}\/training_file\.jsonl$/),
        hyperParameters: { epochCount: '2', learningRateMultiplier: 0.5 },
      },
    });
    expect(made).toMatchObject({ id: '89', object: 'fine_tuning.job', status: 'queued', hyperparameters: { n_epochs: 2 } });
  });

  it('can be read, listed and cancelled', async () => {
    const { harness, client, script } = open();
    const endpoint = 'projects/123/locations/us-central1/endpoints/55';
    script(job({ state: 'JOB_STATE_SUCCEEDED', endTime: '2026-01-01T01:00:00Z', tunedModel: { model: 'm', endpoint } }));
    expect(await client.fineTuning.jobs.retrieve('89')).toMatchObject({
      status: 'succeeded',
      finished_at: 1767229200,
      fine_tuned_model: endpoint,
    });
    script({ tuningJobs: [job({ state: 'JOB_STATE_FAILED', error: { code: 3, message: 'bad data' } })] });
    expect((await client.fineTuning.jobs.list()).data).toMatchObject([{ status: 'failed', error: { message: 'bad data' } }]);
    script({}, job({ state: 'JOB_STATE_CANCELLED' }));
    expect((await client.fineTuning.jobs.cancel('89')).status).toBe('cancelled');
    expect(harness.calls.at(-2)?.path).toBe(`${location}/tuningJobs/89:cancel`);
  });
});

import { createHash } from 'node:crypto';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { awsSigned } from '../../../../core/cloud-auth/aws-sign.ts';
import type { UpstreamCall } from '../../../../core/contract/provider/upstream.ts';
import { findHeader } from '../../../../core/contract/values/http/http.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { replyWith } from '../../../../core/test-kit/pipeline-harness.ts';
import { account, control, idOf, jobArn, jsonl, model, objects, open, plain, role, storage, textOf } from './open-bedrock.ts';

describe('a file in the bucket', () => {
  it('is uploaded as a signed object, and found by its id', async () => {
    const { harness, client } = open();
    harness.script(plain(200, '', ['etag', '"1"']));
    const file = await client.files.create({ file: new File(['{"a":1}\n'], 'in put.jsonl'), purpose: 'batch' });
    const [call] = harness.calls as [UpstreamCall];
    expect(call.origin).toBe(storage);
    expect([call.method, call.path]).toEqual([
      'PUT',
      expect.stringMatching(/^\/my-bucket\/svc-files\/batch\/[\w-]{36}\/in_put\.jsonl$/),
    ]);
    expect(textOf(call)).toBe('{"a":1}\n');
    expect(findHeader(call.headers, 'x-amz-content-sha256')).toBe(createHash('sha256').update('{"a":1}\n').digest('hex'));
    expect(findHeader(call.headers, 'authorization')).toContain('/eu-central-1/s3/aws4_request');
    expect(file).toMatchObject({ object: 'file', bytes: 8, filename: 'in put.jsonl', purpose: 'batch' });
    expect(decodeURIComponent(file.id)).toBe(`s3:/${call.path}`);

    harness.script(plain(200, '', ['content-length', '8', 'last-modified', 'Thu, 01 Jan 2026 00:00:00 GMT']));
    expect(await client.files.retrieve(file.id)).toMatchObject({
      id: file.id,
      bytes: 8,
      created_at: 1767225600,
      purpose: 'batch',
    });
    expect(harness.calls.at(-1)).toMatchObject({ method: 'HEAD', path: call.path });
    harness.script(plain(200, '{"a":1}\n'));
    expect(await (await client.files.content(file.id)).text()).toBe('{"a":1}\n');
    harness.script(plain(204));
    expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: 'file', deleted: true });
    expect(harness.calls.at(-1)).toMatchObject({ method: 'DELETE', path: call.path });
  });

  it('has its purpose in the id, and the requested encryption', async () => {
    const { harness, client } = open({ ...account, amz_server_side_encryption: 'aws:kms' });
    const form = new FormData();
    form.append('file', new File(['x'], 'a.jsonl'));
    form.append('purpose', 'fine-tune');
    harness.script(plain(200));
    const file = (await client.post('/files', { body: form })) as { purpose: string };
    expect(file.purpose).toBe('fine-tune');
    expect(harness.calls[0]?.path).toContain('/svc-files/fine-tune/');
    expect(findHeader(harness.calls[0]?.headers ?? [], 'x-amz-server-side-encryption')).toBe('aws:kms');
  });

  it.each([
    ['x-svc-aws-s3-object-key', 'mine/a b.jsonl'],
    ['x-svc-provider-file-name', 'mine/c.jsonl'],
  ])('has the key set by %s', async (header, key) => {
    const { harness, client } = open();
    harness.script(plain(200));
    const headers = { [header]: key, 'x-svc-file-purpose': 'assistants' };
    const file = await client.files.create({ file: new File(['x'], 'a.jsonl'), purpose: 'batch' }, { headers });
    expect([file.id, harness.calls[0]?.path]).toEqual([idOf(key), `/my-bucket/${encodeURI(key)}`]);
    const out = { headers: { [header]: 'a/../../b' } };
    await expect(client.files.create({ file: new File(['x'], 'a.jsonl'), purpose: 'batch' }, out)).rejects.toMatchObject({
      status: 400,
    });
    expect(harness.calls).toHaveLength(1);
  });

  it('with another length than announced is not written', async () => {
    const { harness, client } = open();
    harness.script(plain(200));
    const upload = (size: string) =>
      client.files.create(
        { file: new File(['four'], 'a.jsonl'), purpose: 'batch' },
        { headers: { 'x-svc-file-upload-size': size } },
      );
    for (const size of ['3', '5']) await expect(upload(size)).rejects.toMatchObject({ param: 'file_upload_size' });
    await expect(upload('many')).rejects.toMatchObject({ message: expect.stringContaining('file_upload_size') });
    expect(harness.calls).toHaveLength(0);
    expect((await upload('4')).bytes).toBe(4);
  });

  it('is listed page by page', async () => {
    const { harness, client } = open();
    const content = (key: string) =>
      `<Contents><Key>${key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>&quot;1&quot;</ETag><Size>8</Size></Contents>`;
    const list = (truncated: boolean, ...keys: string[]) =>
      plain(200, `<ListBucketResult><IsTruncated>${truncated}</IsTruncated>${keys.map(content).join('')}</ListBucketResult>`);
    harness.script(list(true, 'svc-files/batch/1/a&amp;b.jsonl'), list(false, 'svc-files/batch/2/c.jsonl'));
    const found: string[] = [];
    for await (const file of client.files.list({ limit: 1 })) found.push(file.filename);
    expect(found).toEqual(['a&b.jsonl', 'c.jsonl']);
    expect(harness.calls[0]?.path).toBe('/my-bucket?list-type=2&max-keys=1&prefix=svc-files%2F');
    expect(harness.calls[1]?.path).toContain('&start-after=svc-files%2Fbatch%2F1%2Fa%26b.jsonl');
  });

  it.each([
    ['another bucket', 's3://other-bucket/a.jsonl'],
    ['another scheme', 'gs://my-bucket/a.jsonl'],
    ['a path out of its bucket', 's3://my-bucket/../other/a.jsonl'],
  ])('is rejected for %s', async (_, address) => {
    const { harness, client } = open();
    await expect(client.files.retrieve(encodeURIComponent(address))).rejects.toMatchObject({ status: 400, param: 'id' });
    expect(harness.calls).toHaveLength(0);
  });

  it('needs a bucket and AWS keys, and rejects a custom host', async () => {
    const { aws_s3_bucket: _bucket, ...none } = account;
    await expect(open(none).client.files.list()).rejects.toMatchObject({ param: 'aws_s3_bucket' });
    const key = open({ provider: 'bedrock', api_key: 'bk', aws_region: 'eu-central-1', aws_s3_bucket: 'my-bucket' });
    await expect(key.client.files.list()).rejects.toMatchObject({ param: 'aws_auth_type' });
    expect(key.harness.calls).toHaveLength(0);
    const moved = open({ ...account, custom_host: 'https://vpce.example' });
    await expect(moved.client.files.list()).rejects.toMatchObject({ param: 'custom_host' });
    expect(moved.harness.calls).toHaveLength(0);
  });

  it('keeps the status of an S3 error', async () => {
    const { harness, client } = open();
    harness.script(plain(404, '<Error><Code>NoSuchKey</Code></Error>', ['content-type', 'application/xml']));
    await expect(client.files.content(idOf('svc-files/batch/1/a.jsonl'))).rejects.toMatchObject({ status: 404 });
  });
});

describe('a Bedrock batch', () => {
  const line = (id: string, more: JsonObject = {}) => ({
    custom_id: id,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: `@aws/${model}`, max_tokens: 9, messages: [{ role: 'user', content: id }], ...more },
  });
  const create = (
    client: OpenAI,
    options: JsonObject = { role_arn: role },
    endpoint: string | undefined = '/v1/chat/completions',
    more: JsonObject = {},
  ) =>
    client.batches.create({
      input_file_id: idOf('svc-files/batch/1/in.jsonl'),
      ...(endpoint === '' ? {} : { endpoint: endpoint as '/v1/embeddings' }),
      completion_window: '24h',
      provider_options: options,
      ...more,
    } as never);
  const folder = 'svc-batches/11111111-1111-4111-8111-111111111111';
  const job = (input: string, more: JsonObject = {}) => ({
    jobArn,
    jobName: 'svc-batch-1',
    modelId: model,
    status: 'Submitted',
    submitTime: '2026-01-01T00:00:00Z',
    timeoutDurationInHours: 24,
    inputDataConfig: { s3InputDataConfig: { s3InputFormat: 'JSONL', s3Uri: input } },
    outputDataConfig: { s3OutputDataConfig: { s3Uri: input.replace(/[^/]+$/, '') } },
    ...more,
  });
  const name = `chat.${Buffer.from(model).toString('base64url')}.jsonl`;
  const input = `s3://my-bucket/${folder}/${name}`;

  it('becomes a job with its file converted to Converse', async () => {
    const { harness, client } = open();
    harness.script(
      plain(200, jsonl(line('a'), line('b'))),
      plain(200),
      plain(200),
      replyWith(200, { jobArn }),
      replyWith(200, job(input)),
    );
    const batch = await create(client);
    const [read, written, note, made, asked] = harness.calls;
    expect(note?.path).toBe(written?.path.replace(name, 'batch.json'));
    expect(read).toMatchObject({ method: 'GET', origin: storage, path: '/my-bucket/svc-files/batch/1/in.jsonl' });
    expect(written?.path).toMatch(new RegExp(`^/my-bucket/svc-batches/[\\w-]{36}/${name}$`));
    expect(objects(textOf(written))).toEqual([
      {
        recordId: 'a',
        modelInput: { messages: [{ role: 'user', content: [{ text: 'a' }] }], inferenceConfig: { maxTokens: 9 } },
      },
      {
        recordId: 'b',
        modelInput: { messages: [{ role: 'user', content: [{ text: 'b' }] }], inferenceConfig: { maxTokens: 9 } },
      },
    ]);
    expect(made).toMatchObject({ method: 'POST', origin: control, path: '/model-invocation-job' });
    expect(JSON.parse(textOf(made))).toMatchObject({
      jobName: expect.stringMatching(/^svc-batch-/),
      modelId: model,
      modelInvocationType: 'Converse',
      roleArn: role,
      timeoutDurationInHours: 24,
      inputDataConfig: { s3InputDataConfig: { s3InputFormat: 'JSONL', s3Uri: `s3:/${written?.path}` } },
    });
    expect(asked?.path).toBe(`/model-invocation-job/${encodeURIComponent(jobArn)}`);
    expect(findHeader(asked?.headers ?? [], 'authorization')).toContain('/eu-central-1/bedrock/aws4_request');
    expect(batch).toMatchObject({
      id: encodeURIComponent(jobArn),
      object: 'batch',
      status: 'validating',
      endpoint: '/v1/chat/completions',
      created_at: 1767225600,
    });
  });

  it.each([
    ['no role', {}, [line('a')], 'provider_options.role_arn'],
    ['two models', { role_arn: role }, [line('a'), line('b', { model: 'amazon.nova-lite-v1:0' })], 'input_file_id'],
    ['an empty file', { role_arn: role }, [], 'input_file_id'],
  ])('with %s is rejected before a job is created', async (_, options, lines, param) => {
    const { harness, client } = open();
    harness.script(plain(200, jsonl(...lines)), plain(200));
    await expect(create(client, options as JsonObject)).rejects.toMatchObject({ status: 400, param });
    expect(harness.calls.filter(({ origin }) => origin === control)).toEqual([]);
  });

  it('can be read, listed and stopped by its id', async () => {
    const { harness, client } = open();
    const done = job(input, {
      status: 'PartiallyCompleted',
      endTime: '2026-01-01T01:00:00Z',
      totalRecordCount: 3,
      successRecordCount: 2,
      errorRecordCount: 1,
    });
    const none = plain(404, '<Error/>');
    harness.script(replyWith(200, done), none);
    expect(await client.batches.retrieve(encodeURIComponent(jobArn))).toMatchObject({
      status: 'completed',
      input_file_id: encodeURIComponent(input),
      output_file_id: idOf(`${folder}/abc123def456/${name}.out`),
      completed_at: 1767229200,
      request_counts: { total: 3, completed: 2, failed: 1 },
    });
    harness.script(
      replyWith(200, { invocationJobSummaries: [done], nextToken: 'n' }),
      none,
      replyWith(200, done),
      replyWith(200, { invocationJobSummaries: [job('s3://elsewhere/')] }),
    );
    const found: string[] = [];
    for await (const batch of client.batches.list({ limit: 1 })) found.push(batch.status);
    expect(found).toEqual(['completed', 'validating']);
    expect(harness.calls.at(-1)?.path).toContain('submitTimeBefore=2026-01-01T00%3A00%3A00Z');
    harness.script(replyWith(200, {}), replyWith(200, job(input, { status: 'Stopping' })), none);
    expect((await client.batches.cancel(encodeURIComponent(jobArn))).status).toBe('cancelling');
    expect(harness.calls.at(-3)).toMatchObject({
      method: 'POST',
      path: `/model-invocation-job/${encodeURIComponent(jobArn)}/stop`,
    });
    await expect(client.batches.retrieve('../foundation-models')).rejects.toMatchObject({ status: 400, param: 'id' });
  });

  it('has its results as chat completions, as output and as a file', async () => {
    const results = jsonl(
      {
        recordId: 'a',
        modelInput: {},
        modelOutput: {
          output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
          stopReason: 'end_turn',
          usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
        },
      },
      { recordId: 'b', modelInput: {}, error: { errorCode: 400, errorMessage: 'bad request' } },
    );
    const expected = [
      {
        custom_id: 'a',
        response: {
          status_code: 200,
          body: { object: 'chat.completion', model, choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] },
        },
        error: null,
      },
      { custom_id: 'b', response: null, error: { code: '400', message: 'bad request' } },
    ];
    const { harness, client } = open();
    harness.script(replyWith(200, job(input, { status: 'Completed' })), plain(200, results));
    const output = (await client.get(`/batches/${encodeURIComponent(encodeURIComponent(jobArn))}/output`, {
      __binaryResponse: true,
    })) as Response;
    expect(objects(await output.text())).toMatchObject(expected);
    expect(harness.calls.at(-1)?.path).toBe(`/my-bucket/${folder}/abc123def456/${name}.out`);
    harness.script(plain(200, results));
    const file = await client.files.content(idOf(`${folder}/abc123def456/${name}.out`));
    expect(objects(await file.text())).toMatchObject(expected);
    harness.script(replyWith(200, job(input, { status: 'InProgress' })));
    await expect(client.get(`/batches/${encodeURIComponent(jobArn)}/output`)).rejects.toMatchObject({ status: 400 });
  });

  it('keeps its input file and its metadata', async () => {
    const { harness, client } = open();
    harness.script(plain(200, jsonl(line('a'))), plain(200), plain(200), replyWith(200, { jobArn }), replyWith(200, job(input)));
    const metadata = { team: 'Größe', ticket: '7' };
    const file = idOf('svc-files/batch/1/in.jsonl');
    expect(await create(client, undefined, undefined, { metadata })).toMatchObject({ input_file_id: file, metadata });
    const kept = plain(200, textOf(harness.calls[2]));
    harness.script(replyWith(200, job(input)), kept);
    expect(await client.batches.retrieve(encodeURIComponent(jobArn))).toMatchObject({ input_file_id: file, metadata });
    expect(harness.calls.at(-1)).toMatchObject({ method: 'GET', origin: storage, path: `/my-bucket/${folder}/batch.json` });
    harness.script(replyWith(200, { invocationJobSummaries: [job(input)] }), kept);
    expect((await client.batches.list()).data).toMatchObject([{ input_file_id: file, metadata }]);
    const count = harness.calls.length;
    harness.script(replyWith(200, job(input.replace('my-bucket', 'other-bucket'))));
    expect(await client.batches.retrieve(encodeURIComponent(jobArn))).toMatchObject({ metadata: null });
    expect(harness.calls).toHaveLength(count + 1);
    await expect(create(client, undefined, undefined, { metadata: { a: 1 } })).rejects.toMatchObject({ param: 'metadata' });
  });

  it('has the model and endpoint of its headers, or of its upload’s headers', async () => {
    const { harness, client } = open();
    const headers = { 'x-svc-provider-model': model, 'x-svc-provider-batch-endpoint': '/v1/chat/completions' };
    harness.script(plain(200));
    const file = await client.files.create({ file: new File(['x'], 'in.jsonl'), purpose: 'batch' }, { headers });
    const { model: _model, ...body } = line('a').body;
    const script = () =>
      harness.script(
        plain(200, jsonl({ ...line('a'), body })),
        plain(200),
        plain(200),
        replyWith(200, { jobArn }),
        replyWith(200, job(input)),
      );
    script();
    await create(client, { role_arn: role }, '', { input_file_id: file.id });
    expect(JSON.parse(textOf(harness.calls.at(-2)))).toMatchObject({ modelId: model, modelInvocationType: 'Converse' });
    script();
    await create(client, { role_arn: role }, '', { svc_options: headers });
    expect(JSON.parse(textOf(harness.calls.at(-2)))).toMatchObject({ modelId: model, modelInvocationType: 'Converse' });
    harness.script(plain(200, jsonl({ ...line('a'), body })));
    await expect(create(client, { role_arn: role }, '')).rejects.toMatchObject({ status: 400, param: 'endpoint' });
  });

  it('has the format of its model for embeddings', async () => {
    const { harness, client } = open();
    const titan = 'amazon.titan-embed-text-v2:0';
    const embedding = { custom_id: 'a', method: 'POST', url: '/v1/embeddings', body: { model: titan, input: 'x' } };
    const name = `embed.${Buffer.from(titan).toString('base64url')}.jsonl`;
    const inputUri = `s3://my-bucket/${folder}/${name}`;
    harness.script(
      plain(200, jsonl(embedding)),
      plain(200),
      plain(200),
      replyWith(200, { jobArn }),
      replyWith(200, job(inputUri)),
    );
    expect((await create(client, { role_arn: role }, '/v1/embeddings')).endpoint).toBe('/v1/embeddings');
    expect(objects(textOf(harness.calls[1]))).toEqual([{ recordId: 'a', modelInput: { inputText: 'x' } }]);
    expect(JSON.parse(textOf(harness.calls[3])).modelInvocationType).toBe('InvokeModel');
    harness.script(plain(200, jsonl({ recordId: 'a', modelOutput: { embedding: [1, 2], inputTextTokenCount: 1 } })));
    const file = await client.files.content(idOf(`${folder}/abc123def456/${name}.out`));
    expect(objects(await file.text())).toMatchObject([{ response: { body: { data: [{ embedding: [1, 2] }] } } }]);
  });
});

it('S3 signature: matches the published AWS example', async () => {
  // docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html, "GET Bucket (List Objects)".
  const headers = await awsSigned(
    { method: 'GET', origin: 'https://examplebucket.s3.amazonaws.com', path: '/?max-keys=2&prefix=J', headers: [], body: null },
    {
      accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      sessionToken: null,
      expiresAtMs: null,
    },
    { service: 's3', region: 'us-east-1', nowMs: Date.parse('2013-05-24T00:00:00Z') },
  );
  expect(findHeader(headers, 'authorization')).toContain(
    'Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  );
});

import { generateKeyPairSync } from 'node:crypto';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { fakeAws, linesOf } from '../../support/fakes/fake-clouds/fake-aws.ts';
import { type FakeClouds, type LooseObject, startFakeClouds } from '../../support/fakes/fake-clouds/fake-clouds.ts';
import { fakeGoogle } from '../../support/fakes/fake-clouds/fake-google.ts';
import { type GatewayWithUpstream, startGatewayWithUpstream } from '../../support/product/gateway-with-upstream.ts';
import { patternBytes } from '../../support/samples/pattern-bytes.ts';

/**
 * Files and batches in buckets through the official client, the running product and TLS sockets, to clouds that check every signature
 * themselves. Buckets, credentials and models come from integrations that the admin API has saved.
 */
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const account = 'svc@my-project.iam.gserviceaccount.com';
const aws = fakeAws('eu-central-1', { AKIDEXAMPLE: 'the-secret' });
const google = fakeGoogle('us-central1', account, publicKey);
let clouds: FakeClouds;
let gateway: GatewayWithUpstream;

beforeAll(async () => {
  clouds = await startFakeClouds({ ...aws.clouds, ...google.clouds });
  gateway = await startGatewayWithUpstream({ env: clouds.env });
});
afterAll(async () => {
  await gateway?.close();
  await clouds?.close();
});

async function clientOf(slug: string, type: string, configurations: JsonObject): Promise<OpenAI> {
  const integration = await gateway.admin.createIntegration({
    slug: `int-${slug}`,
    ai_provider_id: type,
    configurations,
    create_default_provider: false,
  });
  await gateway.admin.createProvider({ slug, integration_id: integration });
  return new OpenAI({ baseURL: gateway.baseUrl, apiKey: await gateway.keyFor({ provider: `@${slug}` }), maxRetries: 0 });
}

const amazon = (slug: string, more: JsonObject = {}) =>
  clientOf(slug, 'bedrock', {
    aws_auth_type: 'accessKey',
    aws_region: 'eu-central-1',
    aws_access_key_id: 'AKIDEXAMPLE',
    aws_secret_access_key: 'the-secret',
    aws_s3_bucket: 'our-bucket',
    ...more,
  });
const credentials = (key = privateKey) => ({
  type: 'service_account',
  project_id: 'my-project',
  client_email: account,
  private_key: key.export({ type: 'pkcs8', format: 'pem' }),
});
const googleCloud = (slug: string, more: JsonObject = {}) =>
  clientOf(slug, 'vertex-ai', {
    vertex_auth_type: 'serviceAccount',
    vertex_region: 'us-central1',
    vertex_project_id: 'my-project',
    vertex_service_account_json: credentials(),
    vertex_storage_bucket_name: 'our-bucket',
    ...more,
  });

const input = (...ids: string[]) =>
  ids
    .map((id) =>
      JSON.stringify({
        custom_id: id,
        method: 'POST',
        url: '/v1/chat/completions',
        body: { max_tokens: 9, messages: [{ role: 'user', content: `Hi ${id}` }] },
      }),
    )
    .join('\n');

/** From upload to results, as with OpenAI. */
async function runBatch(client: OpenAI, options: JsonObject, run: () => void) {
  const file = await client.files.create({ file: await toFile(Buffer.from(input('a', 'b')), 'in.jsonl'), purpose: 'batch' });
  const made = await client.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    metadata: { team: 'Größe' },
    ...options,
  });
  expect(made).toMatchObject({ status: 'validating', input_file_id: file.id, metadata: { team: 'Größe' } });
  run();
  const done = await client.batches.retrieve(made.id);
  expect(done).toMatchObject({
    id: made.id,
    status: 'completed',
    input_file_id: file.id,
    metadata: { team: 'Größe' },
    request_counts: { total: 2, completed: 2, failed: 0 },
  });
  const output = await (await client.files.content(done.output_file_id as string)).text();
  expect(linesOf(Buffer.from(output))).toMatchObject(
    ['a', 'b'].map((id) => ({
      custom_id: id,
      error: null,
      response: { status_code: 200, body: { object: 'chat.completion', choices: [{ message: { content: `echo Hi ${id}` } }] } },
    })),
  );
  const whole = (await client.get(`/batches/${made.id}/output`, { __binaryResponse: true })) as Response;
  expect(linesOf(Buffer.from(await whole.text())).map(({ custom_id }) => custom_id)).toEqual(['a', 'b']);
  return file;
}

describe('S3 and batches of bedrock', () => {
  const model = 'eu.amazon.nova-lite-v1:0';
  const reply = ({ messages }: LooseObject) => ({
    output: { message: { role: 'assistant', content: [{ text: `echo ${messages[0].content[0].text}` }] } },
    stopReason: 'end_turn',
    usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
  });

  it('run a batch from its file to its results', async () => {
    const client = await amazon('aws', { aws_bedrock_model: model });
    const options = { provider_options: { role_arn: 'arn:aws:iam::123456789012:role/batch' } };
    const file = await runBatch(client, options, () => aws.runJobs(reply));
    expect((await client.files.list({ purpose: 'batch' })).data.map(({ id }) => id)).toContain(file.id);
    expect(await client.files.retrieve(file.id)).toMatchObject({ bytes: Buffer.byteLength(input('a', 'b')) });
    await client.files.delete(file.id);
    await expect(client.files.retrieve(file.id)).rejects.toMatchObject({ status: 404 });
  });

  it('store a file of several parts byte for byte', async () => {
    const client = await amazon('parts');
    const bytes = patternBytes(20 * 1024 * 1024 + 7);
    const file = await client.files.create(
      { file: await toFile(bytes, 'ä b(1).jsonl'), purpose: 'batch' },
      { headers: { 'x-svc-file-upload-size': String(bytes.length) } },
    );
    expect(clouds.requests.filter(({ query }) => query.startsWith('partNumber='))).toHaveLength(3);
    const read = Buffer.from(await (await client.files.content(file.id)).arrayBuffer());
    expect(read.equals(bytes)).toBe(true);
    const short = { headers: { 'x-svc-file-upload-size': String(bytes.length + 1) } };
    const count = aws.objects.size;
    await expect(client.files.create({ file: await toFile(bytes, 'x'), purpose: 'batch' }, short)).rejects.toMatchObject({
      status: 400,
      param: 'file_upload_size',
    });
    expect(aws.objects.size).toBe(count);
    expect(clouds.requests.at(-1)).toMatchObject({ method: 'DELETE', query: expect.stringMatching(/^uploadId=/) });
  });

  it('report a wrong secret', async () => {
    const client = await amazon('wrong', { aws_secret_access_key: 'another-secret' });
    await expect(client.files.list()).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('SignatureDoesNotMatch'),
    });
  });
});

describe('Cloud Storage and batches of vertex-ai', () => {
  const reply = ({ contents }: LooseObject) => ({
    candidates: [{ content: { role: 'model', parts: [{ text: `echo ${contents[0].parts[0].text}` }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 },
  });

  it('run a batch from its file to its results', async () => {
    const client = await googleCloud('gcp', { provider_model: 'gemini-2.5-flash' });
    const file = await runBatch(client, {}, () => google.runJobs(reply));
    expect((await client.files.list({ purpose: 'batch' })).data.map(({ id }) => id)).toContain(file.id);
    expect(await client.files.retrieve(file.id)).toMatchObject({ bytes: Buffer.byteLength(input('a', 'b')) });
  });

  it('store a large file byte for byte', async () => {
    const client = await googleCloud('large');
    const bytes = patternBytes(20 * 1024 * 1024 + 7);
    const file = await client.files.create({ file: await toFile(bytes, 'ä b.jsonl'), purpose: 'batch' });
    expect(file.bytes).toBe(bytes.length);
    const read = Buffer.from(await (await client.files.content(file.id)).arrayBuffer());
    expect(read.equals(bytes)).toBe(true);
  });

  it('report a wrong key', async () => {
    const { privateKey: other } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const client = await googleCloud('wrong-key', { vertex_service_account_json: credentials(other) });
    await expect(client.files.list()).rejects.toMatchObject({ message: expect.stringContaining('invalid_grant') });
  });
});

it('stability-ai gets the client name of its integration', async () => {
  const { upstream } = gateway;
  await gateway.admin.createUpstream('stab', upstream.origin, {
    ai_provider_id: 'stability-ai',
    key: 'sk-st',
    configurations: { custom_host: upstream.origin, stability_client_id: 'my-app', stability_client_version: '1.2' },
  });
  const body = { model: '@stab/sd3.5-large', prompt: 'a roof' };
  await gateway.call('/images/generations', { body });
  const { last } = upstream;
  expect([last.header('stability-client-id'), last.header('stability-client-version')]).toEqual(['my-app', '1.2']);
  upstream.reset();
});

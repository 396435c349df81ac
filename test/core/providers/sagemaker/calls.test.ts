import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { awsSigned } from '../../../../core/cloud-auth/aws-sign.ts';
import type { UpstreamCall } from '../../../../core/contract/provider/upstream.ts';
import { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import { findHeader } from '../../../../core/contract/values/http/http.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import {
  chatReply,
  createHarness,
  type FakeRequest,
  type Harness,
  providerDocument,
  replyWith,
  type Script,
  workspaceId,
} from '../../../../core/test-kit/pipeline-harness.ts';
import { frame } from '../bedrock/frames.ts';
import { eventsOfText } from '../event-stream-text.ts';

const fixtures = join(import.meta.dirname, 'fixtures');
const fixture = (name: string) => JSON.parse(readFileSync(join(fixtures, `${name}.json`), 'utf8'));
const chunks = readFileSync(join(fixtures, 'text.chunks.txt'));
const signing = {
  provider: 'sagemaker',
  aws_region: 'eu-west-1',
  aws_access_key_id: 'AKIDEXAMPLE',
  aws_secret_access_key: 'sk',
};
const question = { model: 'qwen3-endpoint', messages: [{ role: 'user', content: 'Which river flows through Paris?' }] };

function send(harness: Harness, body: JsonObject, request: Partial<FakeRequest> = {}, config: JsonObject = signing) {
  harness.addConfig('aws', config);
  return harness.send({ body, ...request, headers: { 'x-svc-config': 'aws', ...request.headers } });
}

/** A container's stream in frames of this many bytes each, which travel in pieces of another size. */
function framed(bytes: Uint8Array, size: number, ...more: Buffer[]): Script {
  const headers = { ':event-type': 'PayloadPart', ':content-type': 'application/octet-stream', ':message-type': 'event' };
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) frames.push(frame(headers, bytes.subarray(at, at + size)));
  const all = Buffer.concat([...frames, ...more]);
  return (_call, handler) => {
    handler.onHead(200, [
      'content-type',
      'application/vnd.amazon.eventstream',
      'x-amzn-sagemaker-content-type',
      'text/event-stream',
    ]);
    for (let at = 0; at < all.length; at += 100) handler.onData(all.subarray(at, at + 100));
    handler.onEnd();
  };
}

const sentBody = (call: UpstreamCall | undefined): JsonObject => JSON.parse(Buffer.from(call?.body as Uint8Array).toString());

describe('a call to an endpoint of SageMaker', () => {
  it('is signed for its region, its path and its body, which has no model', async () => {
    const harness = createHarness();
    harness.script(replyWith(200, fixture('text').providerReply));
    const reply = await send(harness, question);
    expect([reply.status, reply.json]).toMatchObject([200, { choices: [{ message: { content: 'The Seine.' } }] }]);
    const [call] = harness.calls as [UpstreamCall];
    expect([call.origin, call.path]).toEqual([
      'https://runtime.sagemaker.eu-west-1.amazonaws.com',
      '/endpoints/qwen3-endpoint/invocations',
    ]);
    expect(sentBody(call)).toEqual({ messages: question.messages });
    expect(findHeader(call.headers, 'authorization')).toContain('/eu-west-1/sagemaker/aws4_request, SignedHeaders=');
    expect(findHeader(call.headers, 'authorization')).toBe(await signatureOf(call));
    expect(harness.records).toMatchObject([{ provider: 'sagemaker', inputTokens: 42, outputTokens: 4 }]);
  });

  it('has the endpoint headers of its settings, from a config and from the request', async () => {
    const harness = createHarness();
    harness.script(replyWith(200, fixture('text').providerReply));
    const config = { ...signing, amzn_sagemaker_inference_component: 'qwen3-4b', amzn_sagemaker_model_name: '/opt/ml/model' };
    await send(harness, question, { headers: { 'x-svc-amzn-sagemaker-session-id': 'NEW_SESSION' } }, config);
    const [call] = harness.calls as [UpstreamCall];
    expect(findHeader(call.headers, 'x-amzn-sagemaker-inference-component')).toBe('qwen3-4b');
    expect(findHeader(call.headers, 'x-amzn-sagemaker-session-id')).toBe('NEW_SESSION');
    expect(sentBody(call).model).toBe('/opt/ml/model');
  });

  it.each(['', 'a/b', '../x', 'a?b', '-a', 'a'.repeat(64)])('is rejected for the model "%s"', async (model) => {
    const harness = createHarness();
    expect((await send(harness, { ...question, model })).status).toBe(400);
    expect(harness.calls).toEqual([]);
  });

  it.each([
    ['amzn_sagemaker_session_id', 'a\r\nx-injected: 1'],
    ['aws_auth_type', 'apiKey'],
    ['aws_region', 'evil.example/x'],
  ])('is rejected for the setting %s: %j', async (name, value) => {
    const harness = createHarness();
    const reply = await send(harness, question, {}, { ...signing, [name]: value });
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining(name)]);
    expect(harness.calls).toEqual([]);
  });

  it('requires both keys, and names the missing one', async () => {
    const harness = createHarness();
    const reply = await send(harness, question, {}, { provider: 'sagemaker', api_key: 'x' });
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('aws_access_key_id')]);
  });

  it('keeps the identity of its stored provider', async () => {
    const harness = createHarness();
    const secrets = JSON.stringify({ aws_access_key_id: 'AKIDEXAMPLE', aws_secret_access_key: 'sk' });
    const settings = { aws_region: 'eu-west-1', aws_auth_type: 'accessKey' };
    harness.documents.set(`provider ${workspaceId}/sm`, { ...providerDocument('sm', 'sagemaker'), settings, secrets });
    harness.script(replyWith(200, fixture('text').providerReply));
    const body = { ...question, model: '@sm/qwen3-endpoint' };
    expect((await harness.send({ body, headers: { 'x-svc-aws-auth-type': 'serviceRole' } })).status).toBe(400);
    expect(harness.calls).toEqual([]);
    expect((await harness.send({ body })).status).toBe(200);
  });

  it('cannot use the machine’s identity with settings of the caller', async () => {
    const harness = createHarness();
    const reply = await send(harness, question, {}, { provider: 'sagemaker', aws_auth_type: 'serviceRole', api_key: 'x' });
    expect(reply.status).toBe(new GatewayError('forbidden').status);
  });

  it('keeps the container’s message', async () => {
    const harness = createHarness();
    const { status, headers, body, fault: error } = fixture('container.error');
    harness.script(replyWith(status, body, ['content-type', 'application/json', ...Object.entries(headers as object).flat()]));
    const reply = await send(harness, question);
    expect([reply.status, reply.json]).toMatchObject([424, { error: { message: error.message, type: 'ModelError' } }]);
  });

  it.each([
    ['completion', '/v1/completions'],
    ['embeddings', '/v1/embeddings'],
  ])('sagemaker: serves %s', async (name, path) => {
    const harness = createHarness();
    const { request, providerReply, reply } = fixture(name);
    harness.script(replyWith(200, providerReply));
    expect((await send(harness, request, { path })).json).toEqual(reply);
    expect(harness.calls[0]?.path).toBe('/endpoints/qwen3-endpoint/invocations');
  });
});

describe('a streamed reply of SageMaker', () => {
  it.each([7, 64, 5000])('becomes server-sent events from frames of %i bytes', async (size) => {
    const harness = createHarness();
    harness.script(framed(chunks, size));
    const reply = await send(harness, { ...question, stream: true });
    expect(reply.header('content-type')).toMatch(/^text\/event-stream/);
    expect(eventsOfText(reply.text)).toEqual(eventsOfText(readFileSync(join(fixtures, 'text.events.txt'), 'utf8')));
    expect(harness.calls[0]?.path).toBe('/endpoints/qwen3-endpoint/invocations-response-stream');
    expect(findHeader(harness.calls[0]?.headers ?? [], 'accept')).toBe('application/vnd.amazon.eventstream');
    expect(harness.records).toMatchObject([{ inputTokens: 42, outputTokens: 4, errorCode: null }]);
  });

  it('with one JSON object per line is converted too, including multi-byte letters', async () => {
    const harness = createHarness();
    const lines = [
      { choices: [{ index: 0, delta: { role: 'assistant', content: 'Grüße 🙂' }, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ];
    harness.script(framed(Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join('')), 5));
    const request = { ...question, stream: true, stream_options: { include_usage: true } };
    const reply = await send(harness, request, { headers: { 'x-svc-strict-open-ai-compliance': 'false' } });
    expect(eventsOfText(reply.text).map(({ data }) => data)).toEqual(lines);
  });

  it('ends with an error event if the container aborts', async () => {
    const harness = createHarness();
    const headers = { ':exception-type': 'ModelStreamError', ':content-type': 'application/json', ':message-type': 'exception' };
    const error = frame(headers, JSON.stringify({ ErrorCode: 'ModelInvocationTimeExceeded', Message: 'Took too long.' }));
    harness.script(framed(chunks.subarray(0, 500), 100, error));
    const reply = await send(harness, { ...question, stream: true });
    expect(eventsOfText(reply.text).at(-1)?.data).toMatchObject({ error: { message: 'Took too long.' } });
    expect(reply.text).not.toContain('[DONE]');
  });

  it('with damage before its first event continues with another target', async () => {
    const harness = createHarness();
    harness.script(
      (_call, handler) => {
        handler.onHead(200, ['content-type', 'application/vnd.amazon.eventstream']);
        handler.onData(Buffer.alloc(40, 1));
        handler.onEnd();
      },
      replyWith(200, chatReply('hello from another')),
    );
    const config = { strategy: { mode: 'fallback' }, targets: [signing, { provider: '@one' }] };
    const reply = await send(harness, { ...question, stream: true }, {}, config);
    expect(reply.json).toMatchObject({ choices: [{ message: { content: 'hello from another' } }] });
  });
});

describe('a pass-through call to SageMaker', () => {
  it('is signed including its body and has the headers of the settings', async () => {
    const harness = createHarness({ key: { scopes: ['completions.write', 'proxy.write'] } });
    harness.script(replyWith(200, '[0.1]'));
    const config = { ...signing, amzn_sagemaker_target_model: 'a.tar.gz' };
    const headers = { 'content-type': 'text/csv', accept: 'application/json' };
    const reply = await send(harness, '1,2,3' as never, { path: '/v1/endpoints/xgb/invocations', headers }, config);
    expect(reply.text).toBe('[0.1]');
    const [call] = harness.calls as [UpstreamCall];
    expect([call.path, Buffer.from(call.body as Uint8Array).toString()]).toEqual(['/endpoints/xgb/invocations', '1,2,3']);
    expect(findHeader(call.headers, 'x-amzn-sagemaker-target-model')).toBe('a.tar.gz');
    expect(findHeader(call.headers, 'authorization')).toBe(await signatureOf(call));
  });
});

/** Returns the expected signature of the sent call. */
async function signatureOf(call: UpstreamCall): Promise<string | undefined> {
  const at = (findHeader(call.headers, 'x-amz-date') ?? '').replace(
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/,
    '$1-$2-$3T$4:$5:$6Z',
  );
  const identity = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'sk', sessionToken: null, expiresAtMs: null };
  const scope = { service: 'sagemaker', region: 'eu-west-1', nowMs: Date.parse(at) };
  return findHeader(await awsSigned({ ...call, body: call.body as Uint8Array }, identity, scope), 'authorization');
}

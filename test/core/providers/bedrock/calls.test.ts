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
import { eventsOfText } from '../event-stream-text.ts';
import { chunkFrames, converseFrames } from './frames.ts';

const fixtures = join(import.meta.dirname, 'fixtures');
const chunksOf = (name: string) => eventsOfText(readFileSync(join(fixtures, `${name}.chunks.txt`), 'utf8'));
const chat = JSON.parse(readFileSync(join(fixtures, 'chat-a-text.json'), 'utf8'));
const model = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const signing = {
  provider: 'bedrock',
  aws_region: 'eu-central-1',
  aws_access_key_id: 'AKIDEXAMPLE',
  aws_secret_access_key: 'sk',
};

/** A reply in frames, cut into pieces of this many bytes. */
function framed(bytes: Buffer, size = 50): Script {
  return (_call, handler) => {
    handler.onHead(200, ['content-type', 'application/vnd.amazon.eventstream']);
    for (let at = 0; at < bytes.length; at += size) handler.onData(bytes.subarray(at, at + size));
    handler.onEnd();
  };
}

function send(harness: Harness, body: JsonObject, request: Partial<FakeRequest> = {}, config: JsonObject = signing) {
  harness.addConfig('aws', config);
  return harness.send({ headers: { 'x-svc-config': 'aws' }, body, ...request });
}

const question = { model, max_tokens: 100, messages: [{ role: 'user', content: 'Say hello.' }] };

describe('a call to Bedrock', () => {
  it('is signed for its region, path and body', async () => {
    const harness = createHarness();
    harness.script(replyWith(200, chat.providerReply));
    const reply = await send(harness, question);
    expect(reply.status).toBe(200);
    expect(reply.json).toMatchObject({ model, provider: 'bedrock', choices: [{ message: { content: 'Hello there!' } }] });
    const [call] = harness.calls as [UpstreamCall];
    expect([call.method, call.origin, call.path]).toEqual([
      'POST',
      'https://bedrock-runtime.eu-central-1.amazonaws.com',
      '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse',
    ]);
    expect(await signatureOf(call)).toBe(findHeader(call.headers, 'authorization'));
    expect(findHeader(call.headers, 'authorization')).toContain(
      '/eu-central-1/bedrock/aws4_request, SignedHeaders=content-type;host;',
    );
    expect(harness.records).toMatchObject([{ provider: 'bedrock', inputTokens: 14, outputTokens: 6 }]);
  });

  it('has an ARN as one segment of its path', async () => {
    const harness = createHarness();
    harness.script(replyWith(200, chat.providerReply));
    const arn = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123';
    await send(harness, { ...question, model: arn });
    const path = `/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fabc123/converse`;
    expect(harness.calls[0]?.path).toBe(path);
    expect(await signatureOf(harness.calls[0] as UpstreamCall)).toBe(
      findHeader(harness.calls[0]?.headers ?? [], 'authorization'),
    );
  });

  it.each(['', '.', '..'])('is rejected for the model "%s"', async (name) => {
    const harness = createHarness();
    expect((await send(harness, { ...question, model: name })).status).toBe(400);
    expect(harness.calls).toEqual([]);
  });

  it('uses the key of a stored provider as a bearer token, without a signature', async () => {
    const harness = createHarness();
    const settings = { aws_region: 'us-west-2', aws_auth_type: 'apiKey' };
    harness.documents.set(`provider ${workspaceId}/aws`, { ...providerDocument('aws', 'bedrock'), settings });
    harness.script(replyWith(200, chat.providerReply));
    expect((await harness.send({ body: { ...question, model: `@aws/${model}` } })).status).toBe(200);
    const [call] = harness.calls as [UpstreamCall];
    expect(call.origin).toBe('https://bedrock-runtime.us-west-2.amazonaws.com');
    expect(findHeader(call.headers, 'authorization')).toBe('Bearer sk-stored');
    expect(findHeader(call.headers, 'x-amz-date')).toBe(undefined);
  });

  it('goes to the region of the request, but keeps the stored identity', async () => {
    const harness = createHarness();
    const settings = { aws_region: 'us-west-2', aws_auth_type: 'apiKey' };
    harness.documents.set(`provider ${workspaceId}/aws`, { ...providerDocument('aws', 'bedrock'), settings });
    harness.script(replyWith(200, chat.providerReply));
    const body = { ...question, model: `@aws/${model}` };
    expect((await harness.send({ body, headers: { 'x-svc-aws-region': 'eu-west-3' } })).status).toBe(200);
    expect(harness.calls[0]?.origin).toBe('https://bedrock-runtime.eu-west-3.amazonaws.com');
    for (const [name, value] of [
      ['x-svc-aws-region', 'evil.example/x'],
      ['x-svc-aws-auth-type', 'serviceRole'],
      ['x-svc-aws-role-arn', 'arn:aws:iam::123456789012:role/other'],
    ] as const) {
      expect((await harness.send({ body, headers: { [name]: value } })).status, name).toBe(400);
    }
    expect(harness.calls).toHaveLength(1);
  });

  it('keeps message and status of an error', async () => {
    const harness = createHarness();
    const headers = ['content-type', 'application/json', 'x-amzn-errortype', 'ValidationException:http://internal.amazon.com/'];
    harness.script(replyWith(400, { message: 'The provided model identifier is invalid.' }, headers));
    const reply = await send(harness, question);
    expect([reply.status, reply.json]).toEqual([
      400,
      {
        error: {
          message: 'bedrock error: The provided model identifier is invalid.',
          type: 'ValidationException',
          param: null,
          code: null,
          provider_error: { message: 'The provided model identifier is invalid.' },
        },
        provider: 'bedrock',
      },
    ]);
  });

  it('reports dropped and adapted parameters', async () => {
    const harness = createHarness();
    harness.script(replyWith(200, chat.providerReply));
    const reply = await send(harness, { ...question, seed: 1, response_format: { type: 'json_object' } });
    expect(reply.header('x-svc-dropped-params')).toBe('seed');
    expect(reply.header('x-svc-adapted')).toBe('response_format');
  });
});

describe('a pass-through call to Bedrock', () => {
  const key = { provider: 'bedrock', aws_region: 'us-east-1', api_key: 'bk' };

  it.each([
    ['/model/x/invoke', 'bedrock-runtime'],
    ['/async-invoke?maxResults=2', 'bedrock-runtime'],
    ['/rerank', 'bedrock-agent-runtime'],
    ['/foundation-models?byProvider=meta', 'bedrock'],
  ])('to %s goes to the endpoint %s', async (path, host) => {
    const harness = createHarness({ key: { scopes: ['completions.write', 'proxy.write'] } });
    harness.script(replyWith(200, {}));
    await send(harness, {}, { method: 'GET', path: `/v1${path}` }, key);
    expect(harness.calls).toMatchObject([{ origin: `https://${host}.us-east-1.amazonaws.com`, path }]);
    expect(findHeader(harness.calls[0]?.headers ?? [], 'authorization')).toBe('Bearer bk');
  });
});

describe('a pass-through call', () => {
  const path = '/v1/model/amazon.titan-embed-text-v2:0/invoke';

  it.each([
    ['small', 10],
    ['large', 300_000],
  ])('is signed including its %s body', async (_, length) => {
    const harness = createHarness({ key: { scopes: ['completions.write', 'proxy.write'] } });
    const text = 'x'.repeat(length);
    const reply = await send(harness, { inputText: text }, { path });
    expect(reply.status).toBe(200);
    const [call] = harness.calls as [UpstreamCall];
    expect(JSON.parse(Buffer.from(call.body as Uint8Array).toString())).toEqual({ inputText: text });
    expect(findHeader(call.headers, 'authorization')).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\//);
    expect(await signatureOf(call)).toBe(findHeader(call.headers, 'authorization'));
  });

  it('has the client’s beta features in its body, except those that the service rejects', async () => {
    const harness = createHarness();
    const headers = { 'x-svc-config': 'aws', 'anthropic-beta': 'context-1m-2025-08-07, claude-code-20250219' };
    const body = { anthropic_beta: ['effort-2025-11-24'], max_tokens: 1, messages: [] };
    await send(harness, body, { path: '/v1/model/us.anthropic.claude-sonnet-4-5/invoke', headers });
    const sent = JSON.parse(Buffer.from(harness.calls[0]?.body as Uint8Array).toString());
    expect(sent).toEqual({ ...body, anthropic_beta: ['effort-2025-11-24', 'context-1m-2025-08-07'] });
  });
});

it('has beta features in the body of a messages call, and reports dropped ones', async () => {
  const harness = createHarness();
  const headers = { 'x-svc-config': 'aws', 'anthropic-beta': 'context-1m-2025-08-07,oauth-2025-04-20' };
  const native = JSON.parse(readFileSync(join(fixtures, 'messages-native.json'), 'utf8'));
  harness.script(replyWith(200, native.providerReply));
  const reply = await send(harness, native.request, { path: '/v1/messages', headers });
  expect(reply.header('x-svc-dropped-params')).toBe('anthropic-beta:oauth-2025-04-20');
  const sent = JSON.parse(Buffer.from(harness.calls[0]?.body as Uint8Array).toString());
  expect(sent.anthropic_beta).toEqual(['context-1m-2025-08-07']);
});

it('has the beta features of Claude Code that InvokeModel has, under its names', async () => {
  const harness = createHarness();
  const betas = [
    ...['claude-code-20250219', 'interleaved-thinking-2025-05-14', 'context-management-2025-06-27'],
    ...['mid-conversation-tool-changes-2026-07-01', 'thinking-token-count-2026-05-13', 'advanced-tool-use-2025-11-20'],
    ...['effort-2025-11-24', 'thinking-display-updates-2026-08-18'],
  ];
  const headers = { 'x-svc-config': 'aws', 'anthropic-beta': betas.join(',') };
  const native = JSON.parse(readFileSync(join(fixtures, 'messages-native.json'), 'utf8'));
  harness.script(replyWith(200, native.providerReply));
  const reply = await send(harness, native.request, { path: '/v1/messages', headers });
  expect(reply.header('x-svc-dropped-params')).toBe(
    'anthropic-beta:claude-code-20250219, anthropic-beta:thinking-token-count-2026-05-13',
  );
  expect(reply.header('x-svc-adapted')).toBe('anthropic-beta:advanced-tool-use-2025-11-20');
  const sent = JSON.parse(Buffer.from(harness.calls[0]?.body as Uint8Array).toString());
  expect(sent.anthropic_beta).toEqual([
    ...['interleaved-thinking-2025-05-14', 'context-management-2025-06-27', 'mid-conversation-tool-changes-2026-07-01'],
    ...['tool-search-tool-2025-10-19', 'effort-2025-11-24', 'thinking-display-updates-2026-08-18'],
  ]);
});

describe('a streamed reply of Bedrock', () => {
  it('is converted to server-sent events with the same tokens in the record', async () => {
    const harness = createHarness();
    harness.script(framed(converseFrames(chunksOf('chat-a-text'))));
    const reply = await send(harness, { ...question, stream: true, stream_options: { include_usage: true } });
    expect(reply.header('content-type')).toBe('text/event-stream; charset=utf-8');
    const texts = eventsOfText(reply.text).map(({ data }) => (typeof data === 'string' ? data : deltaOf(data)));
    expect(texts).toEqual(['', 'Hello', ' there!', undefined, undefined, '[DONE]']);
    expect(harness.calls[0]?.path).toMatch(/\/converse-stream$/);
    expect(findHeader(harness.calls[0]?.headers ?? [], 'accept')).toBe('application/vnd.amazon.eventstream');
    expect(harness.records).toMatchObject([{ inputTokens: 14, outputTokens: 6 }]);
  });

  it('from Claude keeps its own events byte for byte', async () => {
    const harness = createHarness();
    harness.script(framed(chunkFrames(chunksOf('messages-native'))));
    const reply = await send(harness, { ...question, stream: true }, { path: '/v1/messages' });
    expect(reply.text).toBe(readFileSync(join(fixtures, 'messages-native.chunks.txt'), 'utf8'));
    expect(harness.calls[0]?.path).toMatch(/\/invoke-with-response-stream$/);
    expect(harness.records).toMatchObject([{ inputTokens: 12, cacheReadTokens: 100, outputTokens: 9 }]);
  });

  it.each([
    ['/v1/chat/completions', converseFrames(chunksOf('chat-a-text').slice(0, 3)), 'modelStreamErrorException'],
    // The model failed, so it is no `invalid_request_error`.
    ['/v1/messages', chunkFrames(chunksOf('messages-native').slice(0, 4)), 'api_error'],
  ])('from %s ends with an error event after an exception event', async (path, begun, type) => {
    const harness = createHarness();
    const exception = converseFrames([{ event: 'modelStreamErrorException', data: { message: 'The model broke off.' } }]);
    harness.script(framed(Buffer.concat([begun, exception])));
    const reply = await send(harness, { ...question, stream: true }, { path });
    const events = eventsOfText(reply.text);
    expect(events.at(-1)?.data).toMatchObject({ error: { message: 'bedrock error: The model broke off.', type } });
    expect(reply.text).not.toContain('[DONE]');
    expect(harness.records[0]).toMatchObject({ errorCode: 'upstream_status' });
  });

  it.each([
    ['an exception comes first', converseFrames([{ event: 'throttlingException', data: { message: 'Slow down.' } }])],
    ['the first frame is damaged', Buffer.from(converseFrames(chunksOf('chat-a-text'))).fill(0, 20, 30)],
    ['the stream ends inside its first frame', converseFrames(chunksOf('chat-a-text')).subarray(0, 20)],
  ])('continues with another target if %s', async (_, bytes) => {
    const harness = createHarness();
    harness.script(framed(bytes), replyWith(200, chatReply('hello from another')));
    const config = { strategy: { mode: 'fallback' }, targets: [signing, { provider: '@one' }] };
    const reply = await send(harness, { ...question, stream: true }, {}, config);
    expect(reply.json).toMatchObject({ choices: [{ message: { content: 'hello from another' } }] });
    expect(harness.calls).toHaveLength(2);
  });

  it.each([
    ['/v1/chat/completions', converseFrames(chunksOf('chat-a-text'))],
    ['/v1/messages', chunkFrames(chunksOf('messages-native'))],
  ])('from %s that ends inside a frame ends with an error, after some events or none', async (path, bytes) => {
    for (const length of [bytes.length - 1, 5]) {
      const harness = createHarness();
      harness.script(framed(bytes.subarray(0, length)));
      const reply = await send(harness, { ...question, stream: true }, { path });
      expect(reply.text).toContain('bedrock error: the event stream is damaged: it ends inside a frame');
      expect(reply.text).not.toContain('[DONE]');
      expect(harness.records[0]).toMatchObject({ errorCode: 'upstream_invalid' });
    }
  });

  it.each(['{"polluted":"yes"}', '["yes"]'])('with a block named __proto__ does not change other objects: %s', async (value) => {
    const harness = createHarness();
    const text = `data: {"contentBlockIndex":0,"delta":{"__proto__":${value}}}\n\n`;
    const block = eventsOfText(`event: contentBlockDelta\n${text}event: contentBlockStop\ndata: {"contentBlockIndex":0}\n\n`);
    harness.script(framed(converseFrames([...block, ...chunksOf('chat-a-text')])));
    const names = Object.getOwnPropertyNames(Object.prototype);
    const reply = await send(harness, { ...question, stream: true });
    const added = Object.getOwnPropertyNames(Object.prototype).filter((name) => !names.includes(name));
    for (const name of added) Reflect.deleteProperty(Object.prototype, name);
    expect(added).toEqual([]);
    expect(reply.text).toContain('[DONE]');
  });

  it('without a stop event is incomplete', async () => {
    const harness = createHarness();
    harness.script(framed(converseFrames(chunksOf('chat-a-text').slice(0, 4))));
    const reply = await send(harness, { ...question, stream: true });
    expect(reply.text).toContain('stream_incomplete');
    expect(reply.text).not.toContain('[DONE]');
  });
});

describe('the machine’s role for Bedrock', () => {
  it('is not available to callers with their own settings', async () => {
    const harness = createHarness();
    const reply = await send(harness, question, {}, { provider: 'bedrock', aws_auth_type: 'serviceRole', api_key: 'x' });
    expect(reply.status).toBe(new GatewayError('forbidden').status);
    expect(harness.calls).toEqual([]);
  });
});

function deltaOf(chunk: JsonObject): unknown {
  const [choice] = chunk.choices as { delta: JsonObject }[];
  return choice?.delta.content;
}

/** Returns the expected signature of the sent call. */
async function signatureOf(call: UpstreamCall): Promise<string | undefined> {
  const at = (findHeader(call.headers, 'x-amz-date') ?? '').replace(
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/,
    '$1-$2-$3T$4:$5:$6Z',
  );
  const identity = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'sk', sessionToken: null, expiresAtMs: null };
  const headers = await awsSigned({ ...call, body: call.body as Uint8Array }, identity, {
    service: 'bedrock',
    region: 'eu-central-1',
    nowMs: Date.parse(at),
  });
  return findHeader(headers, 'authorization');
}

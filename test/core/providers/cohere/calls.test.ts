import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findHeader } from '../../../../core/contract/values/http/http.ts';
import {
  chatReply,
  createHarness,
  providerDocument,
  replyWith,
  type Script,
  workspaceId,
} from '../../../../core/test-kit/pipeline-harness.ts';
import { eventsOfText, textOfEvents } from '../event-stream-text.ts';

const fixtures = join(import.meta.dirname, 'fixtures');
const stream = readFileSync(join(fixtures, 'chat-a-text.chunks.txt'), 'utf8');
const plain = JSON.parse(readFileSync(join(fixtures, 'chat-a-text.json'), 'utf8'));

function streamed(text: string): Script {
  return (_call, handler) => {
    handler.onHead(200, ['content-type', 'text/event-stream']);
    for (let at = 0; at < text.length; at += 40) handler.onData(Buffer.from(text.slice(at, at + 40)));
    handler.onEnd();
  };
}

function harnessWith(...scripts: Script[]) {
  const harness = createHarness();
  harness.documents.set(`provider ${workspaceId}/co`, providerDocument('co', 'cohere'));
  harness.script(...scripts);
  return harness;
}

const body = { model: '@co/command-a-03-2025', messages: [{ role: 'user', content: 'Say hello.' }] };

it('cohere: calls version 2 with the stored key and replies in the format of the route', async () => {
  const harness = harnessWith(replyWith(200, plain.providerReply));
  const reply = await harness.send({ body });
  expect(reply.json).toMatchObject({ provider: 'cohere', choices: [{ message: { content: 'Hello there!' } }] });
  const [call] = harness.calls;
  expect([call?.origin, call?.path]).toEqual(['https://api.cohere.ai', '/v2/chat']);
  expect(findHeader(call?.headers ?? [], 'authorization')).toBe('Bearer sk-stored');
  expect(harness.records).toMatchObject([{ inputTokens: 210, cacheReadTokens: 5, outputTokens: 14 }]);
});

it('cohere: streams in the format of the route', async () => {
  const harness = harnessWith(streamed(stream));
  const reply = await harness.send({ body: { ...body, stream: true } });
  expect(eventsOfText(reply.text).at(-1)?.data).toBe('[DONE]');
  expect(harness.records).toMatchObject([{ inputTokens: 210, outputTokens: 14, errorCode: null }]);
});

it('cohere: serves Messages calls over chat', async () => {
  const harness = harnessWith(replyWith(200, plain.providerReply));
  const reply = await harness.send({ path: '/v1/messages', body: { ...body, max_tokens: 20 } });
  expect(reply.json).toMatchObject({
    type: 'message',
    content: [{ type: 'text', text: 'Hello there!' }],
    stop_reason: 'end_turn',
  });
});

const error = {
  event: 'message-end',
  data: { type: 'message-end', delta: { finish_reason: 'ERROR', error: 'The model broke off.' } },
};

it('cohere: ends a stream with an error event if the generation failed', async () => {
  const harness = harnessWith(streamed(textOfEvents([...eventsOfText(stream).slice(0, 3), error])));
  const reply = await harness.send({ body: { ...body, stream: true } });
  expect(eventsOfText(reply.text).at(-1)?.data).toMatchObject({ error: { message: 'cohere error: The model broke off.' } });
  expect(harness.records).toMatchObject([{ errorCode: 'upstream_status' }]);
});

it('cohere: continues with another target if the generation failed before it began', async () => {
  const harness = harnessWith(streamed(textOfEvents([error])), replyWith(200, chatReply('hello from another')));
  harness.addConfig('both', { strategy: { mode: 'fallback' }, targets: [{ provider: '@co' }, { provider: '@one' }] });
  const request = { ...body, model: 'command-a-03-2025', stream: true };
  const reply = await harness.send({ headers: { 'x-svc-config': 'both' }, body: request });
  expect(reply.json).toMatchObject({ choices: [{ message: { content: 'hello from another' } }] });
});

it('cohere: reranks documents and counts billed units', async () => {
  const { request, providerRequest, providerReply, reply } = JSON.parse(readFileSync(join(fixtures, 'rerank.json'), 'utf8'));
  const harness = harnessWith(replyWith(200, providerReply));
  const replied = await harness.send({ path: '/v1/rerank', body: { ...request, model: '@co/rerank-v3.5' } });
  expect(replied.json).toEqual(reply);
  expect(replied.header('x-svc-adapted')).toBe('documents:object->text');
  expect(harness.calls).toMatchObject([{ origin: 'https://api.cohere.ai', path: '/v2/rerank' }]);
  expect(JSON.parse(Buffer.from(harness.calls[0]?.body as Uint8Array).toString())).toEqual(providerRequest);
  expect(harness.records).toMatchObject([{ provider: 'cohere', media: { units: { search_units: 1 } } }]);
});

it.each([
  ['embed-english-v3.0', [{ text: 'a', image: 'iVBORw0KGgo=' }]],
  ['embed-english-v3.0', [{ image: 'https://example.com/a.png' }]],
  ['embed-v4.0', [[1, 2]]],
  ['embed-v4.0', []],
])('cohere: rejects embeddings with %s that are unsupported: %j', async (model, input) => {
  const harness = harnessWith(replyWith(200, {}));
  const reply = await harness.send({ path: '/v1/embeddings', body: { model: `@co/${model}`, input } });
  expect([reply.status, reply.json]).toMatchObject([400, { error: { param: 'input' } }]);
  expect(harness.calls).toEqual([]);
});

it('cohere: lists models page by page', async () => {
  const pages = [{ models: [{ name: 'command-a-03-2025', endpoints: ['chat'] }], next_page_token: 't/1' }, { models: [] }];
  const harness = createHarness({ key: { scopes: ['completions.write', 'models.list'] } });
  harness.documents.set(`provider ${workspaceId}/co`, providerDocument('co', 'cohere'));
  harness.script(...pages.map((page) => replyWith(200, page)));
  const reply = await harness.send({ method: 'GET', path: '/v1/models', headers: { 'x-svc-provider': '@co' }, body: '' });
  expect(reply.json.data).toMatchObject([{ id: 'command-a-03-2025', object: 'model', provider: 'cohere' }]);
  expect(harness.calls.map((call) => call.path)).toEqual([
    '/v1/models?page_size=1000',
    '/v1/models?page_size=1000&page_token=t%2F1',
  ]);
});

it.each([
  ['/v1/rerank', '/v2/rerank'],
  ['/v1/v1/tokenize', '/v1/tokenize'],
  ['/v1/tokenize', '/v1/tokenize'],
])('cohere: passes %s through to %s', async (path, expected) => {
  const harness = createHarness({ key: { scopes: ['completions.write', 'proxy.write'] } });
  harness.script(replyWith(200, {}));
  await harness.send({ method: 'GET', path, headers: { 'x-svc-provider': 'cohere', authorization: 'Bearer co' } });
  expect(harness.calls[0]?.path).toBe(expected);
});

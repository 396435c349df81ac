import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findHeader } from '../../../../core/contract/http.ts';
import {
  answer,
  chatReply,
  createHarness,
  providerDocument,
  type Script,
  workspaceId,
} from '../../../support/pipeline-harness.ts';
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

it('asks version 2 with the stored key and answers in the format of the route', async () => {
  const harness = harnessWith(answer(200, plain.providerReply));
  const reply = await harness.send({ body });
  expect(reply.json).toMatchObject({ provider: 'cohere', choices: [{ message: { content: 'Hello there!' } }] });
  const [call] = harness.calls;
  expect([call?.origin, call?.path]).toEqual(['https://api.cohere.ai', '/v2/chat']);
  expect(findHeader(call?.headers ?? [], 'authorization')).toBe('Bearer sk-stored');
  expect(harness.records).toMatchObject([{ inputTokens: 12, cacheReadTokens: 5, outputTokens: 12 }]);
});

it('streams in the format of the route', async () => {
  const harness = harnessWith(streamed(stream));
  const reply = await harness.send({ body: { ...body, stream: true } });
  expect(eventsOfText(reply.text).at(-1)?.data).toBe('[DONE]');
  expect(harness.records).toMatchObject([{ inputTokens: 12, outputTokens: 12, errorCode: null }]);
});

it('answers Messages calls over chat', async () => {
  const harness = harnessWith(answer(200, plain.providerReply));
  const reply = await harness.send({ path: '/v1/messages', body: { ...body, max_tokens: 20 } });
  expect(reply.json).toMatchObject({
    type: 'message',
    content: [{ type: 'text', text: 'Hello there!' }],
    stop_reason: 'end_turn',
  });
});

const fault = {
  event: 'message-end',
  data: { type: 'message-end', delta: { finish_reason: 'ERROR', error: 'The model broke off.' } },
};

it('ends a stream with an error event when the generation failed', async () => {
  const harness = harnessWith(streamed(textOfEvents([...eventsOfText(stream).slice(0, 3), fault])));
  const reply = await harness.send({ body: { ...body, stream: true } });
  expect(eventsOfText(reply.text).at(-1)?.data).toMatchObject({ error: { message: 'cohere error: The model broke off.' } });
  expect(harness.records).toMatchObject([{ errorCode: 'upstream_status' }]);
});

it('falls over to another target when the generation failed before it began', async () => {
  const harness = harnessWith(streamed(textOfEvents([fault])), answer(200, chatReply('hello from another')));
  harness.addConfig('both', { strategy: { mode: 'fallback' }, targets: [{ provider: '@co' }, { provider: '@one' }] });
  const request = { ...body, model: 'command-a-03-2025', stream: true };
  const reply = await harness.send({ headers: { 'x-svc-config': 'both' }, body: request });
  expect(reply.json).toMatchObject({ choices: [{ message: { content: 'hello from another' } }] });
});

it.each([
  ['/v1/rerank', '/v2/rerank'],
  ['/v1/v1/tokenize', '/v1/tokenize'],
  ['/v1/tokenize', '/v1/tokenize'],
])('passes %s through to %s', async (path, expected) => {
  const harness = createHarness({ key: { scopes: ['completions.write', 'proxy.write'] } });
  harness.script(answer(200, {}));
  await harness.send({ method: 'GET', path, headers: { 'x-svc-provider': 'cohere', authorization: 'Bearer co' } });
  expect(harness.calls[0]?.path).toBe(expected);
});

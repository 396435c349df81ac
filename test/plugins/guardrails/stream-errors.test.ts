import { expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, type Script } from '../../../core/test-kit/pipeline-harness.ts';

/** Errors in a stream that has begun. SDKs throw their text. */
const words = 'some words that every check allows, '.repeat(10);
const named = (name: string, event: JsonObject) => `event: ${name}\ndata: ${JSON.stringify(event)}\n\n`;
const typed = (event: JsonObject) => named(String(event.type), event);
const chunk = (more: JsonObject = {}) =>
  `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content: words }, finish_reason: null }], ...more })}\n\n`;
const message = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  usage: { input_tokens: 1, output_tokens: 1 },
};
const begun = {
  chat: [chunk(), chunk()],
  messages: [
    typed({ type: 'message_start', message }),
    typed({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    typed({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: words } }),
  ],
  responses: [
    typed({ type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } }),
    typed({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: words }),
  ],
};
const routes = {
  chat: ['/v1/chat/completions', '@one', { messages: [{ role: 'user', content: 'x' }] }],
  messages: ['/v1/messages', '@claude', { max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }],
  responses: ['/v1/responses', '@one', { input: 'x' }],
} as const;

/** Sends each frame when the one before has been handled. */
const inTurns =
  (frames: readonly string[]): Script =>
  async (_call, handler) => {
    handler.onHead(200, ['content-type', 'text/event-stream']);
    for (const frame of frames) {
      handler.onData(Buffer.from(frame));
      await new Promise((resolve) => setImmediate(resolve));
    }
    handler.onEnd();
  };

const failed = { id: 'r', status: 'failed', output: [] };
it.each<[string, keyof typeof routes, (text: string) => string]>([
  ['a chunk', 'chat', (text) => chunk({ error: { message: text } })],
  ['a chunk whose error is a text', 'chat', (text) => chunk({ error: text })],
  ['an event of Messages', 'messages', (text) => typed({ type: 'error', error: { type: 'api_error', message: text } })],
  ['an event of Messages with that name alone', 'messages', (text) => named('error', { type: 'ping', note: text })],
  ['an event of Responses', 'responses', (text) => typed({ type: 'error', code: 'x', message: text })],
  [
    'a failed response',
    'responses',
    (text) => typed({ type: 'response.failed', response: { ...failed, error: { code: 'x', message: text } } }),
  ],
])('a window denies the text of an error in %s, and passes another', async (_name, format, error) => {
  const [path, provider, body] = routes[format];
  const check = { 'default.contains': { words: ['secret'], operator: 'none' }, deny: true, stream: 'window' };
  const send = async (text: string) => {
    const gateway = createHarness();
    gateway.script(inTurns([...begun[format], error(text)]));
    const headers = { 'x-svc-config': JSON.stringify({ provider, output_guardrails: [check] }) };
    return (await gateway.send({ path, headers, body: { model: 'm', stream: true, ...body } })).text;
  };
  const denied = await send('a secret');
  expect([denied.includes('every check allows'), denied.includes('secret')]).toEqual([true, false]);
  expect(await send('a word')).toContain('a word');
});

it('an event of Messages that is named error ends a held stream with the error of its provider', async () => {
  const gateway = createHarness();
  gateway.script(inTurns([...begun.messages, named('error', { type: 'ping', note: 'a secret' })]));
  const check = { 'default.contains': { words: ['absent'], operator: 'none' }, deny: true };
  const headers = { 'x-svc-config': JSON.stringify({ provider: '@claude', output_guardrails: [check] }) };
  const [path, , body] = routes.messages;
  const { status, text } = await gateway.send({ path, headers, body: { model: 'm', stream: true, ...body } });
  expect([status, text.includes('secret'), text.includes('the stream failed')]).toEqual([500, false, true]);
});

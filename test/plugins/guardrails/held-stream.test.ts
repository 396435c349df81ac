import { expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { chatStream, createHarness, type Script } from '../../../core/test-kit/pipeline-harness.ts';
import { messagesStream, responsesStream } from '../../../core/test-kit/provider-scripts.ts';

const user = [{ role: 'user', content: 'hi' }];

/** Streams "my secret" through a webhook that denies unless it replies with the JSON that `change` returns. */
async function ask(
  path: string,
  provider: string,
  body: JsonObject,
  stream: (texts: readonly string[]) => Script,
  change?: object,
) {
  let received: JsonObject = {};
  const gateway = createHarness({
    fetch({ body: event }) {
      received = ((event as JsonObject).response as JsonObject).json as JsonObject;
      const reply = { verdict: true, ...(change ? { transformedData: { response: { json: change } } } : {}) };
      return Promise.resolve({ status: 200, headers: [], body: Buffer.from(JSON.stringify(reply)) });
    },
  });
  gateway.script(stream(['my ', 'secret']));
  const config = {
    provider,
    output_guardrails: [{ 'default.webhook': { webhookURL: 'https://hooks.example.com/w' }, deny: true }],
  };
  const headers = { 'x-svc-config': JSON.stringify(config) };
  const sink = await gateway.send({ path, headers, body: { model: 'm', stream: true, ...body } });
  return { sink, received };
}

it.each<[string, string, JsonObject, (texts: readonly string[]) => Script, JsonObject]>([
  [
    '/v1/chat/completions',
    '@one',
    { messages: user },
    chatStream,
    {
      id: expect.any(String),
      object: 'chat.completion',
      model: expect.any(String),
      choices: [{ index: 0, message: { role: 'assistant', content: 'my secret' }, finish_reason: 'stop' }],
    },
  ],
  [
    '/v1/messages',
    '@claude',
    { messages: user, max_tokens: 9 },
    messagesStream,
    {
      id: expect.any(String),
      type: 'message',
      model: expect.any(String),
      content: [{ type: 'text', text: 'my secret' }],
      stop_reason: 'end_turn',
      usage: expect.objectContaining({ input_tokens: expect.any(Number), output_tokens: expect.any(Number) }),
    },
  ],
  [
    '/v1/responses',
    '@one',
    { input: 'hi' },
    responsesStream,
    { id: expect.any(String), object: 'response', status: 'completed', usage: expect.any(Object) },
  ],
])('%s: a webhook receives a stream as the whole reply', async (path, provider, body, stream, expected) => {
  const { sink, received } = await ask(path, provider, body, stream);
  expect(sink.status).toBe(200);
  expect(received).toMatchObject(expected);
});

it('a webhook replaces the text of a stream with the JSON of a plain reply', async () => {
  const message = { role: 'assistant', content: 'my ***' };
  const change = { id: 'new', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] };
  const { sink } = await ask('/v1/chat/completions', '@one', { messages: user }, chatStream, change);
  expect(sink.status).toBe(200);
  expect(sink.text).toContain('my ***');
  expect(sink.text).not.toContain('secret');
});

import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { Plugin } from '../../../../core/contract/plugin/plugin.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { guardPlugin } from '../../../../core/plugin-host/guard-plugin.ts';
import { createHarness, type Script } from '../../../../core/test-kit/pipeline-harness.ts';
import { messagesStream, responsesStream } from '../../../../core/test-kit/provider-scripts.ts';

const chunk = (delta: JsonObject, reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
const chat = [
  chunk({ role: 'assistant', content: 'a secret' }),
  chunk({ content: ' word' }),
  chunk({}, 'stop'),
  'data: [DONE]\n\n',
];
const messages = [{ role: 'user', content: 'hi' }];
const types = ['application/octet-stream', 'text/plain; charset=utf-8', 'application/json', null];

/** Sends these bytes with this content type, or none. */
const bytesOf =
  (chunks: readonly string[], type: string | null): Script =>
  (_call, handler) => {
    handler.onHead(200, type === null ? [] : ['content-type', type]);
    for (const each of chunks) handler.onData(Buffer.from(each));
    handler.onEnd();
  };

/** Sends the events of another script without their content type. */
const unnamed =
  (script: Script): Script =>
  (call, handler) =>
    script(call, {
      ...handler,
      onHead: (status) => handler.onHead(status, ['content-type', 'application/octet-stream']),
      onData: (data) => handler.onData(data),
      onEnd: () => handler.onEnd(),
      onError: (error) => handler.onError(error),
    });

async function ask(
  script: Script,
  body: JsonObject = {},
  config: JsonObject = {},
  path = '/v1/chat/completions',
  provider = '@one',
) {
  const gateway = createHarness();
  gateway.script(script);
  const headers = { 'x-svc-config': JSON.stringify({ provider, ...config }) };
  const reply = await gateway.send({ path, headers, body: { model: 'm', stream: true, messages, ...body } });
  return { reply, record: gateway.records[0] };
}

describe('a stream of events with another content type', () => {
  it.each(types)('%s: is a stream, chunk by chunk', async (type) => {
    const { reply, record } = await ask(bytesOf([': ping\n\n', ...chat], type));
    expect([reply.status, reply.header('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(reply.text).toBe([': ping\n\n', ...chat].join(''));
    expect(reply.chunks.length).toBeGreaterThan(1);
    expect(record).toMatchObject({ outcome: 'success', stream: true });
  });

  it.each<[string, JsonObject, string, Script]>([
    ['/v1/messages', { max_tokens: 9 }, '@claude', messagesStream(['a secret', ' word'])],
    ['/v1/messages', { max_tokens: 9 }, '@one', bytesOf(chat, 'application/octet-stream')],
    ['/v1/responses', { input: 'hi', messages: undefined }, '@one', responsesStream(['a secret', ' word'])],
  ])('is a stream on %s', async (path, body, provider, script) => {
    const { reply } = await ask(unnamed(script), body as JsonObject, {}, path, provider);
    expect([reply.status, reply.header('content-type')]).toEqual([200, expect.stringContaining('text/event-stream')]);
    expect(reply.text).toContain('a secret');
  });

  it.each(types.flatMap((type) => ['buffer', 'window'].map((stream) => [type, stream] as const)))(
    '%s: guardrails check it in the mode %s',
    async (type, stream) => {
      const guardrail = { 'default.contains': { words: ['secret'], operator: 'none' }, deny: true, stream };
      const replies = [];
      for (const each of [type, 'text/event-stream']) {
        const { reply, record } = await ask(bytesOf(chat, each), {}, { output_guardrails: [guardrail] });
        expect(reply.text).not.toContain('secret');
        expect(record?.guardrails).toMatchObject([{ side: 'output', verdict: false }]);
        replies.push([reply.status, record?.errorCode]);
      }
      expect(replies[0]).toEqual(replies[1]);
    },
  );

  it('is a stream also if its first chunk has a part of a line', async () => {
    const { reply } = await ask(bytesOf(['da', chat.join('').slice(2)], 'text/plain'));
    expect([reply.status, reply.header('content-type'), reply.text]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      chat.join(''),
    ]);
  });

  it.each(['onReply', 'onAttemptResponse'] as const)('is not sent if the hook %s of a plugin fails', async (hook) => {
    const fail = () => {
      throw new Error('the check failed');
    };
    const base = { apiVersion: 1, name: 'check', stage: 'output-guardrails', config: v.optional(v.unknown()) } as const;
    const plugin: Plugin = { ...base, onConfig: () => ({ [hook]: fail }) };
    const gateway = createHarness({ plugins: [guardPlugin(plugin, { hookTimeoutMs: 5000 })] });
    gateway.script(bytesOf(chat, 'text/plain'));
    const reply = await gateway.send({ headers: { 'x-svc-provider': '@one' }, body: { model: 'm', stream: true, messages } });
    expect(reply.status).toBe(500);
    expect(reply.text).not.toContain('secret');
  });

  it('is cut with an error if it has no end', async () => {
    const { reply, record } = await ask(bytesOf(chat.slice(0, 2), 'text/plain'));
    expect(reply.text).toContain('ended the stream before it was complete');
    expect(record).toMatchObject({ outcome: 'cut' });
  });

  it.each([
    ['text', 'error: the model is not loaded'],
    ['a page', '<html>data: x</html>'],
  ])('%s is still rejected', async (_what, text) => {
    expect((await ask(bytesOf([text], 'text/plain'))).reply.status).toBe(502);
  });
});

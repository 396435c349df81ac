import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { defineCorePlugin } from '../../../core/contract/plugin/core-plugin.ts';
import { createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';

const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
const body = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };
const openai = (content: string) =>
  `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":${content}},"finish_reason":"stop"}]}`;
const anthropic = (text: string) =>
  `{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":${text}}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`;
const delta = (text: string) =>
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":${text}}}\n\n`;

describe('responses with other JSON types than the provider documents are never a 500', () => {
  it.each([
    ['an object that has no text', '{"toString":1}'],
    ['endless nesting', deep],
    ['a number beyond all bounds', '1e400'],
    ['a list', '[]'],
    ['null', 'null'],
  ])('%s', async (_name, value) => {
    const harness = createHarness();
    const ask = async (provider: string, status: number, text: string, type: string, stream = false) => {
      harness.script(replyWith(status, text, ['content-type', type]));
      const headers = { 'x-svc-provider': `@${provider}` };
      const replies = [];
      for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/responses']) {
        const sent = path === '/v1/responses' ? { model: 'm', input: 'hi', stream } : { ...body, stream };
        const reply = await harness.send({ path, headers, body: sent });
        replies.push([reply.status, /"(internal|internal_error)"/.test(reply.text) ? reply.text : '']);
      }
      return replies;
    };
    for (const text of [openai(value), anthropic(value)]) {
      for (const provider of ['one', 'claude']) {
        for (const [status, message] of await ask(provider, 200, text, 'application/json')) {
          expect([200, 502]).toContain(status);
          expect(message).toBe('');
        }
      }
    }
    for (const [status, message] of await ask('claude', 200, delta(value), 'text/event-stream', true)) {
      expect([200, 502]).toContain(status);
      expect(message).toBe('');
    }
    const kept = [
      [529, ''],
      [529, ''],
      [529, ''],
    ];
    for (const error of [
      `{"error":{"type":${value},"message":${value}}}`,
      `{"error":${value}}`,
      `{"type":"error","error":{"type":"x","message":${value}}}`,
    ]) {
      for (const provider of ['one', 'claude']) expect(await ask(provider, 529, error, 'application/json')).toEqual(kept);
    }
  });
});

const holdsReplies = defineCorePlugin({
  name: 'holds-replies',
  stage: 'output-guardrails',
  reads: { response: 'body' },
  config: v.optional(v.unknown()),
  onConfig: () => ({ onAttemptResponse: () => undefined }),
});

it.each([
  ['many', 1_000, 200],
  ['more than a million', 500_001, 502],
])('a held stream with %s line ends: %i frames without an event have status %i', async (_name, frames, status) => {
  const harness = createHarness({ plugins: [holdsReplies] });
  const ended = 'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
  harness.script(replyWith(200, `${':\n\n'.repeat(frames)}${ended}`, ['content-type', 'text/event-stream']));
  const headers = { 'x-svc-provider': '@one' };
  const reply = await harness.send({ path: '/v1/chat/completions', headers, body: { ...body, stream: true } });
  expect(reply.status).toBe(status);
});

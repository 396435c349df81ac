import { describe, expect, it } from 'vitest';
import { chatReply, createHarness, replyWith, type Script } from '../../../../core/test-kit/pipeline-harness.ts';

const error = { message: 'The engine is currently overloaded', type: 'server_error', param: null, code: null };
const failing: Script = (_call, handler) => {
  handler.onHead(200, ['content-type', 'text/event-stream']);
  handler.onData(Buffer.from(`data: ${JSON.stringify({ error })}\n\n`));
  handler.onEnd();
};
const body = { model: 'gpt-5', stream: true, messages: [{ role: 'user', content: 'hi' }] };
const usage = { stream_options: { include_usage: true } };

describe('a stream of an OpenAI-compatible provider that begins with an error', () => {
  it.each([
    ['chat completions', '/v1/chat/completions', body],
    ['chat completions with usage', '/v1/chat/completions', { ...body, ...usage }],
    ['completions', '/v1/completions', { model: 'gpt-5', stream: true, prompt: 'hi' }],
    ['messages', '/v1/messages', { ...body, max_tokens: 9 }],
  ])('is an error reply on %s', async (_name, path, sent) => {
    const gateway = createHarness();
    gateway.script(failing);
    const reply = await gateway.send({ path, headers: { 'x-svc-provider': '@one' }, body: sent });
    expect([reply.status, reply.text]).toEqual([502, expect.stringContaining(error.message)]);
  });

  it('continues with another target', async () => {
    const gateway = createHarness();
    gateway.script(failing, replyWith(200, chatReply('hello')));
    const config = JSON.stringify({ strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] });
    const reply = await gateway.send({ path: '/v1/chat/completions', headers: { 'x-svc-config': config }, body });
    expect([reply.status, reply.header('x-svc-last-used-option-index')]).toEqual([200, 'config.targets[1]']);
  });
});

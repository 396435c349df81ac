import { describe, expect, it } from 'vitest';
import { chatReply, createHarness, replyWith, type Script } from '../../../../core/test-kit/pipeline-harness.ts';

/** Anthropic replies 200, opens the stream, and then reports that it is overloaded. */
const overloaded: Script = (_call, handler) => {
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  handler.onHead(200, ['content-type', 'text/event-stream']);
  handler.onData(Buffer.from(`event: error\ndata: ${JSON.stringify(error)}\n\n`));
  handler.onEnd();
};
const body = { model: 'claude-opus-4-6', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'hi' }] };

describe('a stream of Claude that begins with overloaded_error', () => {
  it.each(['/v1/chat/completions', '/v1/messages', '/v1/responses'])('is 529 on %s', async (path) => {
    const gateway = createHarness();
    gateway.script(overloaded);
    const sent = path === '/v1/responses' ? { model: body.model, input: 'hi', stream: true } : body;
    const reply = await gateway.send({ path, headers: { 'x-svc-provider': '@claude' }, body: sent });
    expect([reply.status, reply.text]).toEqual([529, expect.stringContaining('Overloaded')]);
  });

  it('is forwarded after earlier output', async () => {
    const gateway = createHarness();
    gateway.script((call, handler) => {
      handler.onHead(200, ['content-type', 'text/event-stream']);
      handler.onData(Buffer.from('event: ping\ndata: {"type":"ping"}\n\n'));
      overloaded(call, { ...handler, onHead: () => {}, onData: (chunk) => handler.onData(chunk), onEnd: () => handler.onEnd() });
    });
    const reply = await gateway.send({ path: '/v1/messages', headers: { 'x-svc-provider': '@claude' }, body });
    expect([reply.status, reply.text.match(/overloaded_error/g)?.length]).toEqual([200, 1]);
  });

  it('continues with another target', async () => {
    const gateway = createHarness();
    gateway.script(overloaded, replyWith(200, chatReply('hello')));
    const targets = [{ provider: '@claude' }, { provider: '@one' }];
    const config = JSON.stringify({ strategy: { mode: 'fallback' }, targets });
    const reply = await gateway.send({
      path: '/v1/messages',
      headers: { 'x-svc-config': config },
      body: { ...body, stream: false },
    });
    expect([reply.status, reply.header('x-svc-last-used-option-index')]).toEqual([200, 'config.targets[1]']);
  });
});

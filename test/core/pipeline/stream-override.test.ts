import { describe, expect, it } from 'vitest';
import { chatReply, createHarness, replyWith, type Script } from '../../../core/test-kit/pipeline-harness.ts';

const streamed: Script = (_call, handler) => {
  handler.onHead(200, ['content-type', 'text/event-stream']);
  handler.onData(
    Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'),
  );
  handler.onEnd();
};
const send = (gateway: ReturnType<typeof createHarness>, config: object, body: object = {}) =>
  gateway.send({
    path: '/v1/chat/completions',
    headers: { 'x-svc-config': JSON.stringify(config) },
    body: { model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }], ...body },
  });

describe('the parameter stream of a target', () => {
  it.each(['override_params', 'default_params'])('streams the reply if %s sets it', async (field) => {
    const gateway = createHarness();
    gateway.script(streamed);
    const reply = await send(gateway, { provider: '@one', [field]: { stream: true } });
    expect([reply.status, reply.text]).toEqual([200, expect.stringContaining('data: [DONE]')]);
    expect(gateway.records[0]).toMatchObject({ stream: true });
  });

  it.each([{ override_params: { stream: false } }, { drop_params: ['stream'] }])('%j asks for a plain reply', async (shape) => {
    const gateway = createHarness();
    gateway.script(replyWith(200, chatReply('hello')));
    const reply = await send(gateway, { provider: '@one', ...shape }, { stream: true });
    expect([reply.status, reply.json]).toMatchObject([200, { choices: [{ message: { content: 'hello' } }] }]);
    expect(gateway.calls[0]?.headers).toContain('application/json');
    expect(gateway.calls[0]?.headers).not.toContain('text/event-stream');
    expect(gateway.records[0]).toMatchObject({ stream: false });
  });

  it('leaves out the options of the stream that the request asked for', async () => {
    const gateway = createHarness();
    gateway.script(replyWith(500, {}), streamed);
    const targets = [{ provider: '@one', override_params: { stream: false } }, { provider: '@two' }];
    const body = { stream: true, stream_options: { include_usage: true } };
    await send(gateway, { strategy: { mode: 'fallback' }, targets }, body);
    const [plain, next] = gateway.calls.map((call) => JSON.parse(Buffer.from(call.body as Uint8Array).toString()));
    expect(plain).not.toHaveProperty('stream_options');
    expect(next).toMatchObject(body);
  });

  it('does not apply to the next target', async () => {
    const gateway = createHarness();
    gateway.script(replyWith(500, {}), replyWith(200, chatReply('hello')));
    const targets = [{ provider: '@one', override_params: { stream: true } }, { provider: '@two' }];
    const reply = await send(gateway, { strategy: { mode: 'fallback' }, targets });
    expect([reply.status, reply.json]).toMatchObject([200, { choices: [{ message: { content: 'hello' } }] }]);
    expect(gateway.records[0]).toMatchObject({ stream: false });
  });
});

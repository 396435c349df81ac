import { describe, expect, it } from 'vitest';
import { chatReply, createHarness, replyWith } from '../../../../core/test-kit/pipeline-harness.ts';

const error = { error: { message: 'Provider returned error', code: 502 } };
const messages = [{ role: 'user', content: 'hi' }];
const routes: [string, object][] = [
  ['/v1/chat/completions', { messages }],
  ['/v1/completions', { prompt: 'hi' }],
  ['/v1/messages', { messages, max_tokens: 9 }],
];

describe('a response with status 200 and an error in place of choices', () => {
  it.each([...routes, ['/v1/responses', { input: 'hi' }]])('is an error reply on %s', async (path, body) => {
    const gateway = createHarness();
    gateway.script(replyWith(200, error));
    const reply = await gateway.send({ path, headers: { 'x-svc-provider': '@one' }, body: { model: 'gpt-5', ...body } });
    expect([reply.status, reply.text]).toEqual([502, expect.stringContaining('Provider returned error')]);
    expect(gateway.records[0]).toMatchObject({ outcome: 'failed' });
  });

  it.each(routes)('continues with another target on %s', async (path, body) => {
    const gateway = createHarness();
    gateway.script(replyWith(200, { error: 'Unexpected endpoint' }), replyWith(200, chatReply('hello')));
    const config = JSON.stringify({ strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] });
    const reply = await gateway.send({ path, headers: { 'x-svc-config': config }, body: { model: 'gpt-5', ...body } });
    expect([reply.status, reply.header('x-svc-last-used-option-index')]).toEqual([200, 'config.targets[1]']);
  });

  it('is passed on if it has choices too', async () => {
    const gateway = createHarness();
    gateway.script(replyWith(200, { ...error, choices: [{ index: 0, message: { role: 'assistant', content: 'x' } }] }));
    const reply = await gateway.send({ headers: { 'x-svc-provider': '@one' }, body: { model: 'gpt-5', messages } });
    expect(reply.status).toBe(200);
  });
});

import { describe, expect, it } from 'vitest';
import { chatReply, createHarness, replyWith } from '../../../../core/test-kit/pipeline-harness.ts';

const error = { error: { message: 'Provider returned error', code: 502 } };
const messages = [{ role: 'user', content: 'hi' }];
const routes: [string, object][] = [
  ['/v1/chat/completions', { messages }],
  ['/v1/completions', { prompt: 'hi' }],
  ['/v1/messages', { messages, max_tokens: 9 }],
];

const provider = { 'x-svc-provider': '@one' };

describe('a response with status 200 and an error in place of choices', () => {
  it.each([...routes, ['/v1/responses', { input: 'hi' }]])('is an error reply on %s', async (path, body) => {
    const gateway = createHarness();
    gateway.script(replyWith(200, error));
    const reply = await gateway.send({ path, headers: provider, body: { model: 'gpt-5', ...body } });
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
    const reply = await gateway.send({ headers: provider, body: { model: 'gpt-5', messages } });
    expect(reply.status).toBe(200);
  });
});

describe('a response with status 200 and an error in place of another result', () => {
  it.each<[string, string, object]>([
    ['/v1/embeddings', 'openai', { input: 'hi' }],
    ['/v1/moderations', 'openai', { input: 'hi' }],
    ['/v1/images/generations', 'openai', { prompt: 'a cat' }],
    ['/v1/images/edits', 'x-ai', { prompt: 'a cat', image: 'data:image/png;base64,AA==' }],
    ['/v1/audio/speech', 'openai', { input: 'hi', voice: 'alloy' }],
    ['/v1/audio/speech', 'mistral-ai', { input: 'hi', voice: 'alloy' }],
    ['/v1/rerank', 'cohere', { query: 'q', documents: ['a'] }],
    ['/v1/ocr', 'mistral-ai', { document: { type: 'document_url', document_url: 'https://docs.example.com/a.pdf' } }],
    ['/v1/decisions', 'openrouter', { state: 'x', questions: {} }],
  ])('continues with another target on %s of %s', async (path, id, body) => {
    const gateway = createHarness({ providers: { one: id, two: id } });
    gateway.script(replyWith(200, error), replyWith(503, { error: { message: 'busy' } }));
    const config = JSON.stringify({ strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] });
    const reply = await gateway.send({ path, headers: { 'x-svc-config': config }, body: { model: 'm', ...body } });
    expect([reply.status, reply.text]).toEqual([503, expect.stringContaining('busy')]);
    expect(gateway.calls).toHaveLength(2);
  });

  it('is an error reply on transcriptions', async () => {
    const gateway = createHarness();
    gateway.script(replyWith(200, error));
    const form =
      '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n' +
      '--b\r\ncontent-disposition: form-data; name="file"; filename="a.mp3"\r\ncontent-type: audio/mpeg\r\n\r\nmp3\r\n--b--\r\n';
    const headers = { ...provider, 'content-type': 'multipart/form-data; boundary=b' };
    const reply = await gateway.send({ path: '/v1/audio/transcriptions', headers, body: form });
    expect([reply.status, reply.text]).toEqual([502, expect.stringContaining('Provider returned error')]);
  });

  it('is passed on if it has the result too', async () => {
    const gateway = createHarness();
    gateway.script(replyWith(200, { ...error, data: [{ object: 'embedding', index: 0, embedding: [1] }] }));
    const reply = await gateway.send({ path: '/v1/embeddings', headers: provider, body: { model: 'm', input: 'hi' } });
    expect(reply.status).toBe(200);
  });
});

import { describe, expect, it } from 'vitest';
import { createHarness } from '../../../core/test-kit/pipeline-harness.ts';

const chat = { model: 'm', messages: [{ role: 'user', content: 'x' }], max_tokens: 5 };
const embedding = { model: 'm', input: 'x' };

async function sent(path: string, provider: string, body: object | null, headers: Record<string, string> = {}) {
  const harness = createHarness();
  await harness.send({
    method: body === null ? 'GET' : 'POST',
    path,
    headers: { authorization: `Bearer ${harness.key}`, 'x-svc-provider': provider, ...headers },
    ...(body === null ? {} : { body: body as never }),
  });
  return harness.calls[0];
}

describe('the query of a unified route', () => {
  it.each([
    ['/v1/chat/completions?foo=1', '@one', chat, '/v1/chat/completions?foo=1'],
    ['/v1/embeddings?x=1&x=%20', '@one', embedding, '/v1/embeddings?x=1&x=%20'],
    ['/v1/completions?beta=true', '@one', { model: 'm', prompt: 'x' }, '/v1/completions?beta=true'],
    ['/v1/responses?beta=true', '@one', { model: 'm', input: 'x' }, '/v1/responses?beta=true'],
    ['/v1/images/generations?beta=true', '@one', { model: 'm', prompt: 'x' }, '/v1/images/generations?beta=true'],
    ['/v1/messages?beta=true', '@claude', chat, '/v1/messages?beta=true'],
    ['/v1/messages/count_tokens?beta=true', '@claude', chat, '/v1/messages/count_tokens?beta=true'],
  ])('%s is forwarded to a provider with this route', async (path, provider, body, expected) => {
    expect((await sent(path, provider, body))?.path).toBe(expected);
  });

  it.each(['/v1/files?beta=true', '/v1/files/file_1?beta=true', '/v1/files/file_1/content?beta=true'])(
    '%s is forwarded for files of Anthropic',
    async (path) => {
      expect((await sent(path, '@claude', null, { 'anthropic-version': '2023-06-01' }))?.path).toBe(path);
    },
  );

  it('is not forwarded if the provider has another route', async () => {
    expect((await sent('/v1/chat/completions?foo=1', '@claude', chat))?.path).toBe('/v1/messages');
    expect((await sent('/v1/messages?beta=true', '@one', chat))?.path).not.toContain('beta');
  });
});

it('client query: a user profile of Anthropic is forwarded', async () => {
  const call = await sent('/v1/messages', '@claude', chat, { 'anthropic-user-profile-id': 'profile_1' });
  const at = call?.headers.indexOf('anthropic-user-profile-id') ?? -1;
  expect(call?.headers[at + 1]).toBe('profile_1');
});

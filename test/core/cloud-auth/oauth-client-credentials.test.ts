import { describe, expect, it } from 'vitest';
import {
  chatReply,
  createHarness,
  type Harness,
  providerDocument,
  replyWith,
  workspaceId,
} from '../../../core/test-kit/pipeline-harness.ts';

const token = (value: string) => replyWith(200, { access_token: value, token_type: 'Bearer', expires_in: 600 });

/** A stored provider behind an OAuth server. */
function store(gateway: Harness, provider: string, settings: Record<string, unknown> = {}): void {
  gateway.documents.set(`provider ${workspaceId}/inner`, {
    ...providerDocument('inner', provider),
    settings: {
      provider_auth_type: 'oauthClientCredentials',
      oauth_token_endpoint: 'https://login.example.com/oauth/token?tenant=a',
      oauth_client_id: 'client-1',
      oauth_scope: 'models.read models.write',
      custom_host: 'https://models.example.com/v1',
      ...settings,
    },
    secrets: JSON.stringify({ api_key: 'sk-not-for-them', oauth_client_secret: 'cl1ent' }),
  });
}

describe('OAuth client credentials for a provider', () => {
  it('give every call a bearer token, fetched once, and send no key', async () => {
    const gateway = createHarness();
    store(gateway, 'openai');
    gateway.script(token('t-1'), replyWith(200, chatReply('hello')));
    const body = { model: '@inner/gpt-5', messages: [{ role: 'user', content: 'hi' }] };
    expect((await gateway.send({ body })).status).toBe(200);
    expect((await gateway.send({ body })).status).toBe(200);
    const [asked, first, second] = gateway.calls;
    expect(gateway.calls).toHaveLength(3);
    expect(`${asked?.origin}${asked?.path}`).toBe('https://login.example.com/oauth/token?tenant=a');
    expect(Object.fromEntries(new URLSearchParams(Buffer.from(asked?.body as Uint8Array).toString()))).toMatchObject({
      grant_type: 'client_credentials',
      client_secret: 'cl1ent',
      scope: 'models.read models.write',
    });
    for (const call of [first, second]) {
      expect(call?.origin).toBe('https://models.example.com');
      expect(call?.headers).toContain('Bearer t-1');
      expect(JSON.stringify(call?.headers)).not.toMatch(/sk-not-for-them|cl1ent/);
    }
  });

  it('work for providers that sign calls, and on pass-through routes', async () => {
    const gateway = createHarness();
    store(gateway, 'anthropic');
    gateway.script(token('t-2'), replyWith(200, {}));
    await gateway.send({
      path: '/v1/anything',
      method: 'GET',
      headers: { 'x-svc-provider': '@inner', 'x-api-key': 'of the client' },
    });
    const call = gateway.calls[1];
    expect(call?.headers).toContain('Bearer t-2');
    expect(call?.headers).toContain('anthropic-version');
    expect(call?.headers).not.toContain('x-api-key');
  });

  it('return the error of the token endpoint, and a fallback continues', async () => {
    const gateway = createHarness();
    store(gateway, 'openai');
    gateway.addConfig('pc-two', { strategy: { mode: 'fallback' }, targets: [{ provider: '@inner' }, { provider: '@one' }] });
    gateway.script(
      replyWith(400, { error: 'unauthorized_client', error_description: 'Unknown client' }),
      replyWith(200, chatReply('two')),
    );
    const alone = await gateway.send({ headers: { 'x-svc-provider': '@inner' }, body: { model: 'gpt-5', messages: [] } });
    expect(alone.status).toBe(400);
    expect(alone.text).toContain('the token endpoint replied with 400: unauthorized_client: Unknown client');
    gateway.script(replyWith(400, { error: 'unauthorized_client' }), replyWith(200, chatReply('two')));
    const second = await gateway.send({ headers: { 'x-svc-config': 'pc-two' }, body: { model: 'gpt-5', messages: [] } });
    expect(second.status).toBe(200);
    expect(second.header('x-svc-last-used-option-index')).toBe('config.targets[1]');
  });

  it('require all their settings', async () => {
    const gateway = createHarness();
    store(gateway, 'openai', { oauth_client_id: undefined });
    const reply = await gateway.send({ headers: { 'x-svc-provider': '@inner' }, body: { model: 'gpt-5', messages: [] } });
    expect(reply.status).toBe(400);
    expect(reply.text).toContain('oauth_client_id');
    expect(gateway.calls).toHaveLength(0);
  });

  it('cannot be set by a request', async () => {
    const gateway = createHarness();
    const headers = {
      'x-svc-provider': '@one',
      'x-svc-provider-auth-type': 'oauthClientCredentials',
      'x-svc-oauth-token-endpoint': 'https://thief.example.com/token',
    };
    await gateway.send({ headers, body: { model: 'gpt-5', messages: [] } });
    expect(gateway.calls.map((call) => call.origin)).toEqual(['https://api.openai.com']);
  });
});

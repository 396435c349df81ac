import { describe, expect, it } from 'vitest';
import {
  chatReply,
  createHarness,
  type Harness,
  providerDocument,
  replyWith,
  workspaceId,
} from '../../../core/test-kit/pipeline-harness.ts';

const token = (value: string, seconds = 600) =>
  replyWith(200, { access_token: value, token_type: 'Bearer', expires_in: seconds });

/** A stored provider with workload identity federation. */
function store(gateway: Harness, provider: string, settings: Record<string, unknown>): void {
  gateway.documents.set(`provider ${workspaceId}/inner`, {
    ...providerDocument('inner', provider),
    settings: {
      provider_auth_type: 'wif',
      oauth_token_endpoint: 'https://login.example.com/oauth/token',
      oauth_client_id: 'client-1',
      ...settings,
    },
    secrets: JSON.stringify({ api_key: 'sk-not-for-them', oauth_client_secret: 'cl1ent' }),
  });
}

const openai = { wif_identity_provider_id: 'idp_1', wif_service_account_id: 'sa_1' };
const anthropic = { wif_federation_rule_id: 'fdrl_1', wif_organization_id: 'org_1', wif_service_account_id: 'svac_1' };
const body = { model: '@inner/m', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };
const bodyOf = (call: Harness['calls'][number] | undefined) => JSON.parse(Buffer.from(call?.body as Uint8Array).toString());

describe('workload identity federation', () => {
  it('exchanges the token of the identity provider at OpenAI, once for several calls, and sends no key', async () => {
    const gateway = createHarness();
    store(gateway, 'openai', { ...openai, custom_host: 'https://eu.api.openai.com/v1' });
    gateway.script(token('subject'), token('access'), replyWith(200, chatReply('hello')));
    expect((await gateway.send({ body })).status).toBe(200);
    expect((await gateway.send({ body })).status).toBe(200);
    const [login, exchange, first, second] = gateway.calls;
    expect(gateway.calls).toHaveLength(4);
    expect(login?.origin).toBe('https://login.example.com');
    // The token goes to the provider's own endpoint, even if the integration names another host.
    expect(`${exchange?.origin}${exchange?.path}`).toBe('https://auth.openai.com/oauth/token');
    expect(bodyOf(exchange)).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      subject_token: 'subject',
      identity_provider_id: 'idp_1',
      service_account_id: 'sa_1',
    });
    for (const call of [first, second]) {
      expect(call?.headers).toContain('Bearer access');
      expect(JSON.stringify(call?.headers)).not.toMatch(/sk-not-for-them|cl1ent|subject/);
    }
  });

  it('exchanges the token at Anthropic, with the workspace if one is set', async () => {
    const gateway = createHarness();
    store(gateway, 'anthropic', { ...anthropic, wif_workspace_id: 'wrkspc_1' });
    gateway.script(token('subject'), token('access'), replyWith(200, {}));
    await gateway.send({ path: '/v1/anything', method: 'GET', headers: { 'x-svc-provider': '@inner' } });
    const [, exchange, call] = gateway.calls;
    expect(`${exchange?.origin}${exchange?.path}`).toBe('https://api.anthropic.com/v1/oauth/token');
    expect(exchange?.headers).toContain('oauth-2025-04-20,oidc-federation-2026-04-01');
    expect(bodyOf(exchange)).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: 'subject',
      federation_rule_id: 'fdrl_1',
      organization_id: 'org_1',
      service_account_id: 'svac_1',
      workspace_id: 'wrkspc_1',
    });
    expect(call?.headers).toContain('Bearer access');
    expect(call?.headers).not.toContain('x-api-key');
  });

  it.each([
    ['openai', { ...openai, wif_identity_provider_id: undefined }, 'wif_identity_provider_id'],
    ['anthropic', { ...anthropic, wif_federation_rule_id: undefined }, 'wif_federation_rule_id'],
    ['openai', { ...openai, oauth_client_id: undefined }, 'oauth_client_id'],
  ])('with %s and %j names the missing setting, and sends nothing', async (provider, settings, param) => {
    const gateway = createHarness();
    store(gateway, provider, settings);
    const reply = await gateway.send({ body });
    expect([reply.status, JSON.stringify(reply.json)]).toEqual([expect.any(Number), expect.stringContaining(param)]);
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(gateway.calls).toHaveLength(0);
  });

  it('returns status and message of a rejected exchange', async () => {
    const gateway = createHarness();
    store(gateway, 'openai', openai);
    gateway.script(token('subject'), replyWith(401, { error: 'invalid_grant', error_description: 'no mapping' }));
    const reply = await gateway.send({ body });
    expect(reply.status).toBe(401);
    expect(JSON.stringify(reply.json)).toContain('invalid_grant: no mapping');
  });
});

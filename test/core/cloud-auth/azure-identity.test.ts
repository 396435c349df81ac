import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { OutgoingCall } from '../../../core/contract/provider/provider.ts';
import { Secret } from '../../../core/contract/values/credentials/secret.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { azureOpenAi } from '../../../core/providers/azure-openai/index.ts';
import { type FakeTokenEndpoint, fakeTokenEndpoint } from '../formats/token-services.ts';

afterEach(() => vi.unstubAllEnvs());

/** The headers of a signed call. */
async function signed(
  given: JsonObject,
  secrets: Record<string, string>,
  endpoint: FakeTokenEndpoint,
  origin = 'https://r.openai.azure.com',
): Promise<string[]> {
  const settings = v.parse(azureOpenAi.settings, { azure_resource_name: 'r', ...given });
  const credentials = Object.fromEntries(Object.entries(secrets).map(([name, value]) => [name, new Secret(value)]));
  const headers = [...azureOpenAi.headers(settings, credentials)];
  const call: OutgoingCall = { method: 'POST', origin, path: '/openai/v1/x', headers, body: null };
  await azureOpenAi.sign?.(call, settings, credentials, endpoint);
  return call.headers;
}

const entra = (clientId = 'client-1') => ({
  azure_auth_mode: 'entra',
  azure_entra_tenant_id: 'contoso.onmicrosoft.com',
  azure_entra_client_id: clientId,
});

describe('azure_auth_mode default', () => {
  it('sends the key or the caller’s token without any token request', async () => {
    const endpoint = fakeTokenEndpoint();
    expect(await signed({}, { api_key: 'k' }, endpoint)).toEqual(['api-key', 'k']);
    expect(await signed({}, { api_key: 'eyJhbGciOi.eyJhdWQi.sig' }, endpoint)).toEqual([
      'authorization',
      'Bearer eyJhbGciOi.eyJhdWQi.sig',
    ]);
    expect(await signed({}, { api_key: 'k', azure_ad_token: 'Bearer t' }, endpoint)).toEqual(['authorization', 'Bearer t']);
    expect(endpoint.requests).toEqual([]);
  });
});

describe('azure_auth_mode entra', () => {
  it('sends the token of an application only to the host that was stored with its secret', async () => {
    const endpoint = fakeTokenEndpoint();
    const headers = await signed(entra(), { azure_entra_client_secret: 's' }, endpoint, 'https://proxy.example.com');
    expect(headers).toEqual(['authorization', 'Bearer token-1']);
  });

  it('exchanges the client secret for a token of the tenant, and sends no key with it', async () => {
    const endpoint = fakeTokenEndpoint();
    const given = entra();
    const secrets = { api_key: 'unused', azure_entra_client_secret: 's3cret' };
    expect(await signed(given, secrets, endpoint)).toEqual(['authorization', 'Bearer token-1']);
    expect(endpoint.requests[0]).toMatchObject({
      url: 'https://login.microsoftonline.com/contoso.onmicrosoft.com/oauth2/v2.0/token',
      method: 'POST',
    });
    expect(endpoint.requests[0]?.metadata).toBeUndefined();
    expect(endpoint.form(0)).toEqual({
      grant_type: 'client_credentials',
      client_id: given.azure_entra_client_id,
      client_secret: 's3cret',
      scope: 'https://cognitiveservices.azure.com/.default',
    });
  });

  it('caches the token until shortly before its end, per secret and scope', async () => {
    const endpoint = fakeTokenEndpoint();
    const given = entra();
    const sign = (more: JsonObject = {}, secret = 's') =>
      signed({ ...given, ...more }, { azure_entra_client_secret: secret }, endpoint);
    expect(await sign()).toEqual(['authorization', 'Bearer token-1']);
    expect(await sign()).toEqual(['authorization', 'Bearer token-1']);
    expect(await sign({ azure_entra_scope: 'https://ai.azure.com/.default' })).toEqual(['authorization', 'Bearer token-2']);
    expect(await sign({}, 'guessed')).toEqual(['authorization', 'Bearer token-3']);
    endpoint.clockMs += 3_595_000;
    expect(await sign()).toEqual(['authorization', 'Bearer token-4']);
  });

  it.each([
    ['us', 'https://login.microsoftonline.us', 'https://cognitiveservices.azure.us/.default'],
    ['cn', 'https://login.partner.microsoftonline.cn', 'https://cognitiveservices.azure.cn/.default'],
  ])('requests tokens for hosts of azure.%s in their own cloud', async (label, authority, scope) => {
    const endpoint = fakeTokenEndpoint();
    const secrets = { azure_entra_client_secret: 's' };
    expect(await signed(entra(), secrets, endpoint, `https://r.openai.azure.${label}`)).toContain('Bearer token-1');
    expect(endpoint.requests[0]?.url).toBe(`${authority}/contoso.onmicrosoft.com/oauth2/v2.0/token`);
    expect(endpoint.form(0).scope).toBe(scope);
    // The token of one cloud is not used in another.
    expect(await signed(entra(), secrets, endpoint)).toContain('Bearer token-2');
    const chosen = { ...entra(), azure_entra_scope: 'https://ai.azure.us/.default' };
    await signed(chosen, secrets, endpoint, `https://r.services.ai.azure.${label}`);
    expect(endpoint.form(2).scope).toBe('https://ai.azure.us/.default');
  });

  it('returns a rejection with its status and reason, without the secret', async () => {
    const endpoint = fakeTokenEndpoint();
    endpoint.replies = [
      {
        status: 401,
        body: { error: 'invalid_client', error_description: 'AADSTS7000215: Invalid client secret.\r\nTrace ID: 1' },
      },
    ];
    const attempt = signed(entra(), { azure_entra_client_secret: 'wr0ng' }, endpoint);
    await expect(attempt).rejects.toMatchObject({
      code: 'upstream_status',
      status: 401,
      message: 'azure-openai error: the token endpoint replied with 401: invalid_client: AADSTS7000215: Invalid client secret.',
    });
  });

  it('names the missing setting', async () => {
    await expect(signed(entra(), {}, fakeTokenEndpoint())).rejects.toMatchObject({ param: 'azure_entra_client_secret' });
    const { azure_entra_tenant_id: _, ...given } = entra();
    const attempt = signed(given, { azure_entra_client_secret: 's' }, fakeTokenEndpoint());
    await expect(attempt).rejects.toMatchObject({ code: 'invalid_config', param: 'azure_entra_tenant_id' });
  });

  it('reports a reply without a token that a header can have', async () => {
    for (const body of [
      '<html>',
      {},
      { access_token: '' },
      { access_token: 7 },
      { access_token: 'a\nb' },
      { access_token: 'ключ' },
    ]) {
      const endpoint = fakeTokenEndpoint();
      endpoint.replies = [{ status: 200, body }];
      await expect(signed(entra(), { azure_entra_client_secret: 's' }, endpoint)).rejects.toMatchObject({
        code: 'upstream_invalid',
      });
    }
  });
});

describe('the machine identity on Azure', () => {
  it.each(['managed', 'workload', 'entraFederated'])('is not used for %s unless the call allows it', async (mode) => {
    const endpoint = fakeTokenEndpoint();
    vi.stubEnv('AZURE_FEDERATED_TOKEN_FILE', '/nowhere');
    await expect(signed({ ...entra(), azure_auth_mode: mode }, {}, endpoint)).rejects.toMatchObject({ code: 'forbidden' });
    expect(endpoint.requests).toEqual([]);
  });

  it.each([
    ['a host of a tenant', 'https://collector.example.com'],
    ['a name that only ends alike', 'https://r.openai.azure.com.example.com'],
    ['an endpoint on which customers of Azure run programs', 'https://mine.westeurope.inference.ml.azure.com'],
    ['a gateway that any customer of Azure can have', 'https://mine.azure-api.net'],
    ['plain HTTP', 'http://r.openai.azure.com'],
  ])('is not sent to %s in any mode', async (_, origin) => {
    vi.stubEnv('AZURE_FEDERATED_TOKEN_FILE', '/nowhere');
    const endpoint = fakeTokenEndpoint({ machineIdentity: true });
    for (const mode of ['managed', 'workload', 'entraFederated']) {
      const given = { ...entra(), azure_auth_mode: mode };
      await expect(signed(given, {}, endpoint, origin), mode).rejects.toMatchObject({ code: 'forbidden' });
    }
    expect(endpoint.requests).toEqual([]);
  });

  it('is sent to hosts that the deployment trusts', async () => {
    const trusted = 'https://models.corp.example';
    const endpoint = Object.assign(fakeTokenEndpoint({ machineIdentity: true }), {
      trusts: (origin: string) => origin === trusted,
    });
    const managed = { azure_auth_mode: 'managed', azure_managed_client_id: 'client-1' };
    expect(await signed(managed, {}, endpoint, trusted)).toEqual(['authorization', 'Bearer token-1']);
    await expect(signed(managed, {}, endpoint, 'https://other.corp.example')).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('comes from the metadata service, for the named identity', async () => {
    const endpoint = fakeTokenEndpoint({ machineIdentity: true });
    // The metadata service writes numbers as text.
    endpoint.replies = [{ status: 200, body: { access_token: 'mi', expires_in: '86399', token_type: 'Bearer' } }];
    const clientId = 'client-1';
    const headers = await signed({ azure_auth_mode: 'managed', azure_managed_client_id: clientId }, {}, endpoint);
    expect(headers).toEqual(['authorization', 'Bearer mi']);
    expect(endpoint.requests[0]).toEqual({
      url: `http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fcognitiveservices.azure.com&client_id=${clientId}`,
      method: 'GET',
      headers: ['metadata', 'true'],
      body: null,
      metadata: true,
    });
  });

  it('is the token file of the workload, read again for each exchange', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-token-'));
    const file = join(folder, 'token');
    vi.stubEnv('AZURE_FEDERATED_TOKEN_FILE', file);
    vi.stubEnv('AZURE_TENANT_ID', 'tenant-of-the-pod');
    vi.stubEnv('AZURE_CLIENT_ID', 'client-1');
    const endpoint = fakeTokenEndpoint({ machineIdentity: true });
    writeFileSync(file, 'first\n');
    await signed({ azure_auth_mode: 'workload' }, {}, endpoint);
    writeFileSync(file, 'second\n');
    endpoint.clockMs += 3_600_000;
    await signed({ azure_auth_mode: 'workload' }, {}, endpoint);
    rmSync(folder, { recursive: true });
    expect(endpoint.requests[0]?.url).toBe('https://login.microsoftonline.com/tenant-of-the-pod/oauth2/v2.0/token');
    expect(endpoint.form(0)).toMatchObject({
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: 'first',
    });
    expect(endpoint.form(1).client_assertion).toBe('second');
    expect(endpoint.form(0).client_secret).toBeUndefined();
  });

  it('authenticates an application through the managed identity without a token file', async () => {
    vi.stubEnv('AZURE_FEDERATED_TOKEN_FILE', '');
    const endpoint = fakeTokenEndpoint({ machineIdentity: true });
    const headers = await signed({ ...entra(), azure_auth_mode: 'entraFederated' }, {}, endpoint);
    expect(endpoint.requests.map((request) => request.metadata ?? false)).toEqual([true, false]);
    expect(endpoint.requests[0]?.url).toContain('resource=api%3A%2F%2FAzureADTokenExchange');
    expect(endpoint.form(1).client_assertion).toBe('token-1');
    expect(headers).toEqual(['authorization', 'Bearer token-2']);
  });
});

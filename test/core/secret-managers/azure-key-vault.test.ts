import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FakeClouds, startFakeClouds } from '../../support/fakes/fake-clouds/fake-clouds.ts';
import { fakeKeyVault } from '../../support/fakes/fake-clouds/fake-key-vault.ts';
import { documentWith, type MappedGiven, managersOfTest, mappedSecret, type UnderTestOptions } from './managers-under-test.ts';

/** Over TLS to vaults that want tokens of their own cloud. */
const world = fakeKeyVault('team.vault.azure.net', 'login.microsoftonline.com', 'https://vault.azure.net');
const china = fakeKeyVault('team.vault.azure.cn', 'login.partner.microsoftonline.cn', 'https://vault.azure.cn');
const government = fakeKeyVault('team.vault.usgovcloudapi.net', 'login.microsoftonline.us', 'https://vault.usgovcloudapi.net');
/** A foreign server under its own name. */
const stranger = fakeKeyVault('vault.example.com', 'unused.example.com', 'https://vault.azure.net');
let clouds: FakeClouds;
const start = (options: UnderTestOptions = {}) => managersOfTest({ clouds, ...options });

beforeAll(async () => {
  clouds = await startFakeClouds({ ...world.clouds, ...china.clouds, ...government.clouds, ...stranger.clouds });
});
afterAll(() => clouds.close());
beforeEach(() => {
  for (const cloud of [world, china, government, stranger]) {
    cloud.applications.set('tenant-1/client-1', 'client secret');
    cloud.secrets.clear();
    cloud.secrets.set('openai', 'sk-from-azure');
    cloud.instead = null;
  }
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const entra = (host = 'team.vault.azure.net') => ({
  azure_auth_mode: 'entra',
  azure_entra_tenant_id: 'tenant-1',
  azure_entra_client_id: 'client-1',
  azure_vault_url: `https://${host}/`,
});
const mapped = (given: Partial<MappedGiven> = {}) =>
  documentWith(
    mappedSecret({
      managerType: 'azure_kv',
      path: 'openai',
      auth: entra(),
      secrets: { azure_entra_client_secret: 'client secret' },
      ...given,
    }),
  );

describe('Azure Key Vault as an application', () => {
  it('reads the newest version, or the named one', async () => {
    world.secrets.set('openai/0123456789abcdef0123456789abcdef', 'sk-old');
    const { read } = start();
    expect(await read(mapped())).toEqual({ api_key: 'sk-from-azure' });
    expect(clouds.requests.at(-1)).toMatchObject({ path: '/secrets/openai', query: 'api-version=7.4' });
    expect(await read(mapped({ path: 'openai/0123456789abcdef0123456789abcdef' }))).toEqual({ api_key: 'sk-old' });
  });

  it('picks a value of a JSON secret', async () => {
    world.secrets.set('many', '{"openai":"sk-1","other":{"a":1}}');
    const { read } = start();
    expect(await read(mapped({ path: 'many', key: 'openai' }))).toEqual({ api_key: 'sk-1' });
    expect(await read(mapped({ path: 'many', key: 'other' }))).toEqual({ api_key: '{"a":1}' });
    expect(await start().managers.check(mapped({ key: 'openai' }))).toEqual([
      'secret_key is "openai", but the secret is not a JSON object',
    ]);
  });

  it.each([
    ['team.vault.azure.cn', 'login.partner.microsoftonline.cn'],
    ['team.vault.usgovcloudapi.net', 'login.microsoftonline.us'],
  ])('azure key vault: signs in at the cloud of %s', async (host, signIn) => {
    const before = clouds.requests.length;
    expect(await start().read(mapped({ auth: entra(host) }))).toEqual({ api_key: 'sk-from-azure' });
    expect(clouds.requests.slice(before).map((request) => request.host)).toEqual([signIn, host]);
  });

  it('reports rejections with their source', async () => {
    const { managers } = start();
    expect(await managers.check(mapped({ path: 'none' }))).toEqual(['Azure Key Vault responded with 404 SecretNotFound']);
    expect(await managers.check(mapped({ secrets: { azure_entra_client_secret: 'wrong one' } }))).toEqual([
      expect.stringMatching(/^Azure Key Vault error: the token endpoint replied with 401: invalid_client: AADSTS7000215/),
    ]);
    for (const [given, reason] of [
      [{ path: '../keys/x' }, 'secret_path: expected the name of a secret, or name/version'],
      [{ path: 'a?b' }, 'secret_path: expected the name of a secret, or name/version'],
      [{ secrets: {} }, 'azure_entra_client_secret is missing'],
      [{ auth: { ...entra(), azure_entra_tenant_id: '' } }, 'azure_entra_tenant_id: expected a tenant id or domain'],
      [{ auth: { ...entra(), azure_auth_mode: 'x' } }, 'azure_auth_mode: expected one of entra, managed, default'],
      [{ auth: { ...entra(), azure_vault_url: 'http://team.vault.azure.net' } }, 'azure_vault_url: expected a URL with https://'],
    ] as const) {
      expect(await managers.check(mapped(given))).toEqual([reason]);
    }
  });

  it.each([
    ['too many callers', { status: 429, body: { error: { code: 'Throttled' } } }],
    ['a fault of Azure', { status: 503, body: {} }],
    ['a reply that is cut', 'cut'],
    ['a reply without a value', { status: 200, body: { id: 'x' } }],
  ] as const)('%s leaves the value that was there', async (_what, reply) => {
    const under = start({ ttlMs: 1_000 });
    const document = mapped();
    await under.read(document);
    world.instead = () => reply as never;
    under.advance(60_000);
    expect(await under.read(document)).toEqual({ api_key: 'sk-from-azure' });
    expect(under.logLines).toHaveLength(1);
  });
});

describe('Azure Key Vault as the machine', () => {
  const auth = (mode: 'managed' | 'default', more: Record<string, string> = {}) => ({
    auth: { azure_auth_mode: mode, azure_vault_url: 'https://team.vault.azure.net', ...more },
    secrets: {},
  });
  /** A machine with an identity. It records the requests to its metadata service. */
  const machine = () => {
    const asked: URLSearchParams[] = [];
    const metadata = (text: string) => {
      const query = new URL(text).searchParams;
      asked.push(query);
      return { access_token: world.tokenFor(query.get('resource') ?? ''), expires_in: '86399' };
    };
    return { under: start({ machineIdentity: true, metadata }), asked };
  };

  it('reads with the named managed identity', async () => {
    const { under, asked } = machine();
    expect(await under.read(mapped(auth('managed', { azure_managed_client_id: 'identity-1' })))).toEqual({
      api_key: 'sk-from-azure',
    });
    expect([asked[0]?.get('resource'), asked[0]?.get('client_id')]).toEqual(['https://vault.azure.net', 'identity-1']);
  });

  it('reads by default with the workload identity of the pod, else with the managed identity', async () => {
    const managed = machine();
    expect(await managed.under.read(mapped(auth('default')))).toEqual({ api_key: 'sk-from-azure' });
    expect(managed.asked).toHaveLength(1);
    const file = join(mkdtempSync(join(tmpdir(), 'pod-')), 'token');
    writeFileSync(file, 'pod-token');
    vi.stubEnv('AZURE_FEDERATED_TOKEN_FILE', file);
    vi.stubEnv('AZURE_TENANT_ID', 'tenant-9');
    vi.stubEnv('AZURE_CLIENT_ID', 'client-9');
    const workload = machine();
    const before = clouds.requests.length;
    await workload.under.managers.check(mapped(auth('default')));
    expect(workload.asked).toEqual([]);
    const signIn = clouds.requests[before];
    expect(signIn?.path).toBe('/tenant-9/oauth2/v2.0/token');
    expect(new URLSearchParams(signIn?.body.toString()).get('client_assertion')).toBe('pod-token');
  });

  it.each(['managed', 'default'] as const)('sends no token to a foreign host (%s)', async (mode) => {
    for (const host of ['vault.example.com', 'team.vault.azure.net.example.com', 'vault.azure.net']) {
      const { under, asked } = machine();
      expect(await under.managers.check(mapped(auth(mode, { azure_vault_url: `https://${host}` })))).toEqual([
        'azure_vault_url: machine-identity tokens are sent only to vaults of Azure and to hosts in TRUSTED_CUSTOM_HOSTS',
      ]);
      expect(asked).toEqual([]);
    }
  });

  it('sends its token to a host that the operator trusts', async () => {
    const metadata = () => ({ access_token: stranger.tokenFor('https://vault.azure.net'), expires_in: 3600 });
    const under = start({ machineIdentity: true, metadata, trusted: ['vault.example.com'] });
    const own = auth('managed', { azure_vault_url: 'https://vault.example.com', azure_managed_client_id: 'identity-2' });
    expect(await under.read(mapped(own))).toEqual({ api_key: 'sk-from-azure' });
  });

  it.each(['managed', 'default'] as const)('is not used unless the deployment allows it (%s)', async (mode) => {
    expect(await start().managers.check(mapped(auth(mode)))).toEqual([expect.stringContaining('MACHINE_IDENTITY')]);
  });
});

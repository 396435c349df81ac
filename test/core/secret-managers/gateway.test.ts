import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectionTestPath } from '../../../core/contract/protocol/control-plane-calls/connection-test.ts';
import type { MappedSecretDocument } from '../../../core/contract/protocol/credentials/secret-reference.ts';
import type { ProviderDocument } from '../../../core/contract/protocol/documents.ts';
import { batchUsagePath } from '../../../core/contract/provider/batch-usage.ts';
import { openSession } from '../../support/clients/session-client.ts';
import { type FakeClouds, startFakeClouds } from '../../support/fakes/fake-clouds/fake-clouds.ts';
import { fakeKeyVault } from '../../support/fakes/fake-clouds/fake-key-vault.ts';
import { fakeSecretsManager } from '../../support/fakes/fake-clouds/fake-secrets-manager.ts';
import { startFakeRealtime } from '../../support/fakes/fake-realtime.ts';
import { type FakeVault, fakeVault } from '../../support/fakes/fake-vault.ts';
import { type LoneGateway, startLoneGateway } from '../../support/product/lone-gateway.ts';
import { until } from '../../support/until.ts';
import {
  type Behaviour,
  cutBeforeHead,
  type FakeUpstream,
  openaiError,
  reply,
  startFakeUpstream,
} from '../../support/upstream/fake-upstream.ts';
import type { RecordedRequest } from '../../support/upstream/recorded-request.ts';
import { type MappedGiven, mappedSecret } from './managers-under-test.ts';

/**
 * A gateway process with providers whose keys are in Vault, Secrets Manager and Key Vault, and a provider that accepts some keys.
 * Everything that the process writes is searched for the keys.
 */
const aws = fakeSecretsManager('eu-central-1', { AKIDEXAMPLE: 'planted-aws-secret' });
const azure = fakeKeyVault('team.vault.azure.net', 'login.microsoftonline.com', 'https://vault.azure.net');
let clouds: FakeClouds;
let provider: FakeUpstream;
let manager: FakeUpstream;
let vault: FakeVault;
let gateway: LoneGateway;
/** Keys that the provider accepts. */
let goodKeys: Set<string>;
let made = 0;

beforeAll(async () => {
  clouds = await startFakeClouds({ ...aws.clouds, ...azure.clouds });
  [provider, manager] = await Promise.all([startFakeUpstream(), startFakeUpstream()]);
  gateway = await startLoneGateway({ ...clouds.env, LOG_LEVEL: 'info' });
});
afterAll(async () => {
  await gateway?.close();
  await Promise.all([provider, manager].map((upstream) => upstream?.close()));
  await clouds?.close();
});
beforeEach(() => {
  provider.reset();
  manager.reset();
  vault = fakeVault(manager);
  vault.tokens.add('hvs.planted-token');
  goodKeys = new Set();
  const isBad = (request: RecordedRequest) =>
    !goodKeys.has((request.header('authorization') ?? '').replace('Bearer ', '')) && request.path.startsWith('/v1');
  provider.on(isBad, openaiError(401, 'Incorrect API key provided'));
});

const inVault = (path: string, given: Partial<MappedGiven> = {}): MappedSecretDocument =>
  mappedSecret(
    {
      managerType: 'hashicorp_vault',
      path: `secret/data/${path}`,
      slug: `ref-${path}`,
      auth: { vault_auth_type: 'token', vault_addr: vault.addr },
      secrets: { vault_token: 'hvs.planted-token' },
      ...given,
    },
    gateway.clusterKey,
  );
const store = (path: string, value: string) => {
  vault.v2.set(`secret/${path}`, { api_key: value });
  goodKeys.clear();
  goodKeys.add(value);
};
/** A separate provider for each test, because the gateway keeps state by provider. */
function put(mappedSecrets: MappedSecretDocument[], changes: Partial<ProviderDocument> = {}): ProviderDocument {
  made += 1;
  const settings = { custom_host: provider.openaiHost };
  return gateway.putProvider(`p-${made}`, 'openai', { settings, mappedSecrets, ...changes });
}
const chat = (slug: string, headers: Record<string, string> = {}) =>
  gateway.call('/chat/completions', {
    headers,
    body: { model: `@${slug}/gpt-4o`, messages: [{ role: 'user', content: 'Hi' }] },
  });
const ask = (path: string, body: object) =>
  fetch(gateway.origin + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.clusterKeyText}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

describe('a provider whose key is in', () => {
  it('Vault is called with the key, with one request to Vault', async () => {
    store('one', 'sk-planted-vault');
    const { slug } = put([inVault('one')]);
    const replies = await Promise.all(Array.from({ length: 50 }, () => chat(slug)));
    expect(replies.map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect(vault.reads).toHaveLength(1);
    expect(provider.last.header('authorization')).toBe('Bearer sk-planted-vault');
  });

  it('AWS Secrets Manager is called with the key', async () => {
    aws.secrets.set('prod/keys', { SecretString: '{"openai":"sk-planted-aws"}' });
    goodKeys.add('sk-planted-aws');
    const { slug } = put([
      mappedSecret(
        {
          managerType: 'aws_sm',
          path: 'prod/keys',
          key: 'openai',
          auth: { aws_auth_type: 'accessKey', aws_region: 'eu-central-1' },
          secrets: { aws_access_key_id: 'AKIDEXAMPLE', aws_secret_access_key: 'planted-aws-secret' },
        },
        gateway.clusterKey,
      ),
    ]);
    expect((await chat(slug)).status).toBe(200);
  });

  it('Azure Key Vault is called with the key', async () => {
    azure.applications.set('tenant-1/client-1', 'planted client secret');
    azure.secrets.set('openai', 'sk-planted-azure');
    goodKeys.add('sk-planted-azure');
    const auth = { azure_auth_mode: 'entra', azure_entra_tenant_id: 'tenant-1', azure_entra_client_id: 'client-1' };
    const { slug } = put([
      mappedSecret(
        {
          managerType: 'azure_kv',
          path: 'openai',
          auth: { ...auth, azure_vault_url: 'https://team.vault.azure.net' },
          secrets: { azure_entra_client_secret: 'planted client secret' },
        },
        gateway.clusterKey,
      ),
    ]);
    expect((await chat(slug)).status).toBe(200);
  });

  it('a manager can have mapped settings too', async () => {
    store('key', 'sk-planted-key');
    vault.v2.set('secret/organisation', { name: 'org-from-vault' });
    const setting = { target: 'configurations.openai_organization', field: 'openai_organization', isSecret: false };
    const { slug } = put([inVault('key'), inVault('organisation', setting)]);
    expect((await chat(slug)).status).toBe(200);
    expect(provider.last.header('openai-organization')).toBe('org-from-vault');
  });
});

describe('a rotated key', () => {
  it('is read again within the request that the provider rejects, unified and pass-through', async () => {
    store('rotating', 'sk-planted-1');
    const { slug } = put([inVault('rotating')]);
    expect((await chat(slug)).status).toBe(200);
    store('rotating', 'sk-planted-2');
    expect((await chat(slug)).status).toBe(200);
    expect(vault.reads).toHaveLength(2);
    const recorded = () => [...gateway.plane.records.values()].filter((record) => record.providerSlug === slug);
    await until(() => recorded().length === 2);
    const [first, healing] = recorded().sort((a, b) => a.attempts.length - b.attempts.length);
    expect(healing?.attempts.map(({ status }) => status)).toEqual([401, 200]);
    expect(healing).toMatchObject({ outcome: 'success', inputTokens: first?.inputTokens, outputTokens: first?.outputTokens });

    store('passing', 'sk-planted-3');
    const other = put([inVault('passing')]).slug;
    const pass = () => gateway.call('/some/path', { headers: { 'x-svc-provider': `@${other}` }, body: { a: 1 } });
    provider.on('/v1/some/path', reply(200, { passed: true }));
    const isBad = (request: RecordedRequest) => !goodKeys.has((request.header('authorization') ?? '').replace('Bearer ', ''));
    provider.on((request) => request.path === '/v1/some/path' && isBad(request), openaiError(401, 'Incorrect API key provided'));
    expect([(await pass()).status]).toEqual([200]);
    store('passing', 'sk-planted-4');
    const healed = await pass();
    expect([healed.status, await healed.json()]).toEqual([200, { passed: true }]);
  });

  it('is used when the call is sent again without reasoning', async () => {
    store('thinking', 'sk-planted-old');
    const { slug } = put([inVault('thinking')]);
    expect((await chat(slug)).status).toBe(200);
    store('thinking', 'sk-planted-new');
    const isRead = (request: RecordedRequest) => request.header('authorization') === 'Bearer sk-planted-new';
    provider.on(isRead, openaiError(400, 'The encrypted content for item rs_1 could not be verified.'), 1);
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' };
    const input = [{ role: 'user', content: 'Hi' }, reasoning];
    const before = provider.requests.length;
    expect((await gateway.call('/responses', { body: { model: `@${slug}/gpt-5`, input } })).status).toBe(200);
    const keys = provider.requests.slice(before).map((request) => request.header('authorization'));
    expect(keys).toEqual(['old', 'new', 'new'].map((name) => `Bearer sk-planted-${name}`));
  });

  it('is not used if the time for all targets is over when the manager replies', async () => {
    store('late', 'sk-planted-old');
    const { slug } = put([inVault('late')]);
    expect((await chat(slug)).status).toBe(200);
    store('late', 'sk-planted-new');
    const before = provider.requests.length;
    const totalMs = 500;
    const late = async (exchange: Parameters<Behaviour['run']>[0]) => {
      const askedMs = performance.now();
      await until(() => performance.now() > askedMs + totalMs, { what: 'the end of the time for all targets' });
      const metadata = { created_time: '2026-01-01T00:00:00Z', version: 4, destroyed: false };
      const data = { data: { api_key: 'sk-planted-new' }, metadata };
      return reply(200, { request_id: 'late', lease_duration: 2764800, data, auth: null }).run(exchange);
    };
    manager.on('/v1/secret/data/late', late, 1);
    const retry = { attempts: 0, max_total_time_ms: totalMs };
    const config = { strategy: { mode: 'fallback' }, retry, targets: [{ provider: `@${slug}` }] };
    expect((await chat(slug, { 'x-svc-config': JSON.stringify(config) })).status).toBe(401);
    expect(provider.requests.length - before).toBe(1);
    expect((await chat(slug)).status).toBe(200);
  });

  it('leads to the provider’s 401 if the manager has no other value', async () => {
    store('wrong', 'sk-planted-good');
    vault.v2.set('secret/wrong', { api_key: 'sk-planted-wrong' });
    const { slug } = put([inVault('wrong')]);
    const before = provider.requests.length;
    const refused = await chat(slug);
    expect([refused.status, ((await refused.json()) as { error: { message: string } }).error.message]).toEqual([
      401,
      expect.stringContaining('Incorrect API key provided'),
    ]);
    expect([provider.requests.length - before, vault.reads.length]).toEqual([1, 2]);
    await chat(slug);
    expect(vault.reads).toHaveLength(2);
  });
});

describe('an unavailable value', () => {
  it('is reported with provider, field and reference only', async () => {
    const { slug } = put([inVault('missing')]);
    const refused = await chat(slug);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    const { error } = (await refused.json()) as { error: object };
    expect(error).toEqual({
      message: `@${slug}: key comes from the secret reference ref-missing, which has no usable value. Test the integration to see the reason`,
      type: 'service_unavailable',
      param: null,
      code: 'secret_unavailable',
      name: 'secret_unavailable',
    });
    expect(provider.requests).toEqual([]);
  });

  it('makes a fallback continue with the next target', async () => {
    manager.always(cutBeforeHead());
    const away = put([inVault('away')]).slug;
    goodKeys.add('sk-inline');
    gateway.putConfig('with-fallback', {
      strategy: { mode: 'fallback' },
      targets: [{ provider: `@${away}` }, { provider: 'openai', api_key: 'sk-inline', custom_host: provider.openaiHost }],
    });
    const replied = await gateway.call('/chat/completions', {
      headers: { 'x-svc-config': 'with-fallback' },
      body: { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] },
    });
    expect([replied.status, replied.headers.get('x-svc-last-used-option-index')]).toEqual([200, 'config.targets[1]']);
    const alone = (await (await chat(away)).json()) as { error: { message: string } };
    expect(alone.error.message).toMatch(/whose secret manager cannot be reached. Try again shortly$/);
  });

  it('is not shown in the error if it is invalid', async () => {
    vault.v2.set('secret/bad', { host: 'planted not a project\u0007' });
    store('good', 'sk-planted-key');
    const setting = { target: 'configurations.aws_region', field: 'aws_region', isSecret: false };
    const document = put([inVault('good', { field: 'aws_secret_access_key' }), inVault('bad', setting)], {
      provider: 'bedrock',
      settings: {},
    });
    const refused = await chat(document.slug);
    const text = await refused.text();
    expect([refused.status, JSON.parse(text).error.code]).toEqual([503, 'secret_unavailable']);
    expect(text).toContain('aws_region');
    expect(text).not.toContain('planted');
    vault.v2.set('secret/lines', { api_key: 'planted\r\nx-other: header' });
    const split = await chat(put([inVault('lines')]).slug);
    expect([split.status, await split.text()]).toEqual([
      503,
      expect.stringMatching(/characters that are not allowed in a header/),
    ]);
  });
});

describe('a provider with a mapped key', () => {
  it('lists its models', async () => {
    store('models', 'sk-planted-models');
    const { slug } = put([inVault('models')]);
    const listed = await gateway.call('/models', { headers: { 'x-svc-provider': `@${slug}` } });
    expect(listed.status).toBe(200);
    expect(provider.last.header('authorization')).toBe('Bearer sk-planted-models');
  });

  it('does not send the key to a model’s own host', async () => {
    store('elsewhere', 'sk-planted-elsewhere');
    const elsewhere = { slug: 'gpt-4o', enabled: true, customHost: manager.openaiHost };
    const { slug } = put([inVault('elsewhere')], { models: { allowAll: true, list: [elsewhere], headers: null } });
    expect((await chat(slug)).status).toBe(200);
    expect(manager.last.path).toBe('/v1/chat/completions');
    expect(JSON.stringify(manager.last)).not.toContain('planted');
    expect(provider.requests).toEqual([]);
  });

  it('can open sessions, also with a key that was rotated meanwhile', async () => {
    const sessions = await startFakeRealtime();
    try {
      store('sessions', 'sk-planted-session-1');
      const { slug } = put([inVault('sessions')], { settings: { custom_host: `${sessions.origin}/v1` } });
      const open = async () => {
        const url = `${gateway.baseUrl.replace('http', 'ws')}/realtime?model=@${slug}/gpt-realtime`;
        const client = await openSession(url, { 'x-svc-api-key': gateway.key });
        const { handshake } = await sessions.nextSession();
        client.socket.terminate();
        return handshake.headers.authorization;
      };
      expect(await open()).toBe('Bearer sk-planted-session-1');
      store('sessions', 'sk-planted-session-2');
      sessions.replies.push((socket) => socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n'));
      expect(await open()).toBe('Bearer sk-planted-session-2');
    } finally {
      await sessions.close();
    }
  });

  it('can be tested: the error names the mapping and the reason', async () => {
    store('tested', 'sk-planted-tested');
    const good = put([inVault('tested')]);
    const diagnosis = async (document: ProviderDocument) => (await ask(connectionTestPath, { document })).json();
    expect(await diagnosis(good)).toMatchObject({
      ok: true,
      checks: [
        { field: 'secret_mappings[0]', status: 'ok' },
        { field: 'configurations.custom_host', status: 'ok' },
        { field: 'key', status: 'ok' },
      ],
    });
    expect(await diagnosis(put([inVault('tested'), inVault('nothing', { target: 'configurations.x', field: 'x' })]))).toEqual({
      ok: false,
      checks: [
        {
          field: 'secret_mappings[0]',
          status: 'ok',
          message: 'key, from the secret reference ref-tested: the value can be read',
        },
        {
          field: 'secret_mappings[1]',
          status: 'failed',
          message:
            'configurations.x, from the secret reference ref-nothing: HashiCorp Vault responded with 404: there is no secret at secret_path',
        },
      ],
    });
    vault.v2.set('secret/tested', { api_key: 'sk-planted-refused' });
    expect(await diagnosis(good)).toMatchObject({ ok: false, checks: [{}, {}, { field: 'key', status: 'failed' }] });
  });

  it('has its batches read', async () => {
    store('batches', 'sk-planted-batches');
    const document = put([inVault('batches')]);
    provider.on('/v1/batches/batch_1', reply(200, { id: 'batch_1', object: 'batch', status: 'in_progress' }));
    const replied = await ask(batchUsagePath, { document, settings: {}, batchId: 'batch_1' });
    expect([replied.status, await replied.json()]).toEqual([200, { state: 'running', parts: [] }]);
    expect(provider.last.header('authorization')).toBe('Bearer sk-planted-batches');
  });
});

it('secret managers: metrics show the outcome of reads and the age of used values', async () => {
  const text = await (await fetch(`${gateway.origin}/metrics`)).text();
  expect(text).toMatch(/svc_secret_fetches_total\{[^}]*manager="hashicorp_vault"[^}]*outcome="ok"[^}]*\} [1-9]/);
  expect(text).toMatch(/svc_secret_fetches_total\{[^}]*manager="azure_kv"[^}]*outcome="ok"[^}]*\} 1/);
  expect(text).toMatch(/svc_secret_fetches_total\{[^}]*outcome="away"[^}]*\} [1-9]/);
  expect(text).toMatch(/svc_secret_value_age_seconds\{[^}]*\} [\d.]+/);
});

it('secret managers: values are only in memory; a restart needs the manager, and nothing on disk holds one', async () => {
  store('kept', 'sk-planted-kept');
  const { slug } = put([inVault('kept')]);
  expect((await chat(slug)).status).toBe(200);
  await until(() => gateway.plane.records.size > 0 && readdirSync(join(gateway.dataDir, 'last-known-good')).length > 0);
  manager.always(cutBeforeHead());
  await gateway.restart();
  expect((await chat(slug)).status).toBe(503);
  manager.reset();
  vault = fakeVault(manager);
  vault.tokens.add('hvs.planted-token');
  store('kept', 'sk-planted-kept');
  expect(await until(async () => (await chat(slug)).status === 200, { deadlineMs: 20_000 })).toBe(true);

  const files = (readdirSync(gateway.dataDir, { recursive: true }) as string[]).map((name) => join(gateway.dataDir, name));
  const written = files.filter((path) => statSync(path).isFile()).map((path) => readFileSync(path, 'latin1'));
  const records = JSON.stringify([...gateway.plane.records.values()]);
  expect(records).toContain('secret_unavailable');
  for (const text of [...written, records, gateway.output()]) expect(text).not.toContain('planted');
});

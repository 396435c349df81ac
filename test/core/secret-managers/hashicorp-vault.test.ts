import { randomUUID } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakeVault, fakeVault } from '../../support/fakes/fake-vault.ts';
import { cutBeforeHead, type FakeUpstream, reply, startFakeUpstream } from '../../support/upstream/fake-upstream.ts';
import { documentWith, type MappedGiven, managersOfTest, mappedSecret } from './managers-under-test.ts';

let upstream: FakeUpstream;
let vault: FakeVault;

beforeAll(async () => {
  upstream = await startFakeUpstream();
});
afterAll(() => upstream.close());
beforeEach(() => {
  upstream.reset();
  vault = fakeVault(upstream);
});

/** A mapping by token to a secret of version 2 by default. */
const mapped = (given: Partial<MappedGiven> = {}) => {
  vault.tokens.add('hvs.given');
  return mappedSecret({
    managerType: 'hashicorp_vault',
    path: 'secret/data/openai',
    auth: { vault_auth_type: 'token', vault_addr: vault.addr },
    secrets: { vault_token: 'hvs.given' },
    ...given,
  });
};
const approle = (given: Partial<MappedGiven> = {}) => {
  vault.appRoles.set('role-1', 'secret-id-1');
  return mapped({
    auth: { vault_auth_type: 'approle', vault_addr: vault.addr, vault_role_id: 'role-1' },
    secrets: { vault_secret_id: 'secret-id-1' },
    ...given,
  });
};

describe('a Vault token', () => {
  it('reads the only value of a version 2 secret', async () => {
    vault.v2.set('secret/openai', { api_key: 'sk-from-vault' });
    expect(await managersOfTest().read(documentWith(mapped()))).toEqual({ api_key: 'sk-from-vault' });
    expect(vault.reads[0]).toMatchObject({ method: 'GET', path: '/v1/secret/data/openai' });
    expect(vault.reads[0]?.header('x-vault-request')).toBe('true');
  });

  it('reads version 1, also if its fields are named data and metadata', async () => {
    vault.v1.set('kv/plain', { api_key: 'sk-v1' });
    vault.v1.set('kv/odd', { data: { a: 1 }, metadata: { b: 2 } });
    const under = managersOfTest();
    expect(await under.read(documentWith(mapped({ path: 'kv/plain' })))).toEqual({ api_key: 'sk-v1' });
    expect(await under.read(documentWith(mapped({ path: 'kv/odd', key: 'data' })))).toEqual({ api_key: '{"a":1}' });
  });

  it('reads in its namespace only', async () => {
    vault.namespace = 'team/a';
    vault.v2.set('secret/openai', { api_key: 'sk' });
    const auth = { vault_auth_type: 'token', vault_addr: vault.addr };
    const under = managersOfTest();
    expect(await under.read(documentWith(mapped({ auth: { ...auth, vault_namespace: 'team/a' } })))).toEqual({ api_key: 'sk' });
    expect(await under.managers.check(documentWith(mapped({ auth })))).toEqual([
      expect.stringMatching(/^HashiCorp Vault responded with 403: the token is not valid, or its policy /),
    ]);
    expect(await under.managers.check(documentWith(mapped({ auth: { ...auth, vault_namespace: 'a b' } })))).toEqual([
      'vault_namespace: expected the path of a namespace',
    ]);
  });

  it('accepts a path as Vault shows it, and reaches nothing else', async () => {
    vault.v2.set('secret/team/open ai', { api_key: 'sk' });
    const under = managersOfTest();
    for (const path of ['/v1/secret/data/team/open ai', 'secret/data/team/open ai']) {
      expect(await under.read(documentWith(mapped({ path })))).toEqual({ api_key: 'sk' });
    }
    expect(vault.reads.at(-1)?.path).toBe('/v1/secret/data/team/open%20ai');
    for (const path of ['secret/data/../../sys/seal', 'secret//data', '', 'secret/data/']) {
      expect(await under.managers.check(documentWith(mapped({ path }))), path).toEqual([
        expect.stringContaining('secret_path: expected a path'),
      ]);
    }
    await under.managers.check(documentWith(mapped({ path: 'secret/data/x?list=true#y' })));
    expect(vault.reads.at(-1)?.url).toBe('/v1/secret/data/x%3Flist%3Dtrue%23y');
  });

  it('is renewed when it is first used, and again after half of its lease', async () => {
    vault.v2.set('secret/openai', { api_key: 'sk' });
    vault.leaseSeconds = 7200;
    const under = managersOfTest({ ttlMs: 60_000 });
    const document = documentWith(mapped());
    const renewalsAfter = async (minutes: number) => {
      under.advance(minutes * 60_000);
      await under.read(document);
      return vault.renewals.length;
    };
    expect([await renewalsAfter(0), await renewalsAfter(40), await renewalsAfter(25)]).toEqual([1, 1, 2]);
    expect(vault.renewals[1]).toMatchObject({ method: 'POST', path: '/v1/auth/token/renew-self' });
    expect(vault.renewals[1]?.header('x-vault-token')).toBe('hvs.given');
  });

  it.each([
    ['is refused', reply(400, { errors: ['batch tokens cannot be renewed'] })],
    ['gets no valid reply', reply(200, { auth: null })],
    ['is cut', cutBeforeHead()],
  ])('is used if its renewal %s, which is tried again after ten minutes', async (_what, script) => {
    vault.v2.set('secret/openai', { api_key: 'sk' });
    let tries = 0;
    upstream.on(
      (request) => request.path === '/v1/auth/token/renew-self',
      (exchange) => {
        tries++;
        return script.run(exchange);
      },
    );
    const under = managersOfTest({ ttlMs: 60_000 });
    const triesAfter = async (minutes: number) => {
      under.advance(minutes * 60_000);
      expect(await under.read(documentWith(mapped()))).toEqual({ api_key: 'sk' });
      return tries;
    };
    expect([await triesAfter(0), await triesAfter(5), await triesAfter(6)]).toEqual([1, 1, 2]);
  });

  it('with a version 2 path without data/ gets an error that names it', async () => {
    expect(await managersOfTest().managers.check(documentWith(mapped({ path: 'secret/openai' })))).toEqual([
      'secret_path: the key/value engine has version 2. Insert data/ after the mount',
    ]);
  });

  it('reports a deleted version, an absent secret and an unknown namespace as different errors', async () => {
    const under = managersOfTest();
    const metadata = {
      created_time: '2026-01-01T00:00:00Z',
      deletion_time: '2026-01-02T00:00:00Z',
      destroyed: false,
      version: 3,
    };
    for (const [body, reason] of [
      [
        { data: { data: null, metadata } },
        'HashiCorp Vault responded with 404: the latest version of the secret is deleted. Restore it or write a new one',
      ],
      [{ errors: [] }, 'HashiCorp Vault responded with 404: there is no secret at secret_path'],
      [{ errors: ['namespace not found'] }, 'vault_namespace: there is no such namespace'],
    ] as const) {
      upstream.on((request) => request.path.startsWith('/v1/secret/'), reply(404, body));
      expect(await under.managers.check(documentWith(mapped()))).toEqual([reason]);
    }
  });

  it('with a missing or unsendable field gets an error that names it', async () => {
    const under = managersOfTest();
    const auth = { vault_auth_type: 'token', vault_addr: vault.addr };
    const errors = [
      [{ auth: { vault_auth_type: 'token' } }, 'vault_addr is missing'],
      [{ secrets: {} }, 'vault_token is missing'],
      [{ secrets: { vault_token: 'two\r\nlines' } }, 'vault_token: contains characters that are not allowed in a header'],
      [{ auth: { vault_addr: vault.addr } }, 'vault_auth_type: expected one of token, approle, kubernetes'],
      [{ auth: { ...auth, vault_addr: 'http://vault.example.com' } }, 'vault_addr: expected a URL with https://'],
      [{ auth: { ...auth, vault_addr: 'https://169.254.169.254' } }, 'vault_addr must not be a metadata service'],
      [
        { auth: { ...auth, vault_addr: 'https://10.0.0.1' } },
        'vault_addr must be a public address. The operator can allow a private one in TRUSTED_CUSTOM_HOSTS',
      ],
    ] as const;
    for (const [given, reason] of errors) {
      expect(await under.managers.check(documentWith(mapped(given)))).toEqual([reason]);
    }
    expect(upstream.requests).toEqual([]);
  });
});

describe('the Vault value', () => {
  const under = () => {
    vault.v1.set('kv/many', {
      a: 'value a',
      n: 12,
      o: { x: [1] },
      empty: '',
      none: null,
      nl: 'line\n',
      long: 'x'.repeat(16_385),
    });
    vault.v1.set('kv/single', { only: 'one value' });
    return managersOfTest();
  };

  it('is picked by secret_key, and converted to text', async () => {
    const { read } = under();
    const value = (key: string | null, path = 'kv/many') => read(documentWith(mapped({ path, key })));
    expect(await value('a')).toEqual({ api_key: 'value a' });
    expect(await value('n')).toEqual({ api_key: '12' });
    expect(await value('o')).toEqual({ api_key: '{"x":[1]}' });
    expect(await value('nl')).toEqual({ api_key: 'line' });
    expect(await value(null, 'kv/single')).toEqual({ api_key: 'one value' });
  });

  it('is rejected with the reason if it is ambiguous or missing', async () => {
    const { managers } = under();
    for (const [key, reason] of [
      [null, 'the secret has several values. Set secret_key to select one'],
      ['b', 'the secret has no value "b"'],
      ['toString', 'the secret has no value "toString"'],
      ['empty', 'the value is empty'],
      ['none', 'the value is empty'],
      ['long', 'the value is longer than 16384 characters'],
    ] as const) {
      expect(await managers.check(documentWith(mapped({ path: 'kv/many', key })))).toEqual([reason]);
    }
  });

  it('can be a plain setting, parsed if its format requires it', async () => {
    vault.v1.set('kv/settings', { region: 'eu-central-1', flags: '{"on":true}', broken: '{' });
    const setting = (key: string, format: 'string' | 'json') =>
      documentWith(mapped({ path: 'kv/settings', key, format, field: 'some_setting', isSecret: false }));
    const { managers } = managersOfTest();
    const settings = async (document: ReturnType<typeof documentWith>) => (await managers.valuesOf(document)).settings;
    expect(await settings(setting('region', 'string'))).toEqual({ some_setting: 'eu-central-1' });
    expect(await settings(setting('flags', 'json'))).toEqual({ some_setting: { on: true } });
    expect(await settings(setting('flags', 'string'))).toEqual({ some_setting: '{"on":true}' });
    expect(await managers.check(setting('broken', 'json'))).toEqual(['value_format is json, but the value is not JSON']);
  });
});

describe('Vault AppRole', () => {
  it('logs in once for all concurrent reads, until the lease ends', async () => {
    vault.v2.set('secret/openai', { api_key: 'sk' });
    vault.v2.set('secret/other', { api_key: 'sk-2' });
    vault.leaseSeconds = 1200;
    const under = managersOfTest({ ttlMs: 1_000 });
    const both = documentWith(approle({ id: randomUUID() }), approle({ path: 'secret/data/other', field: 'second' }));
    expect(await under.read(both)).toEqual({ api_key: 'sk', second: 'sk-2' });
    expect(vault.logins).toHaveLength(1);
    expect(vault.logins[0]?.json()).toEqual({ role_id: 'role-1', secret_id: 'secret-id-1' });
    under.advance(600_000);
    await under.read(both);
    expect(vault.logins).toHaveLength(1);
    vault.tokens.clear();
    under.advance(1_200_000);
    await under.read(both);
    expect(vault.logins).toHaveLength(2);
  });

  it('logs in once more if its token was revoked, and only once', async () => {
    vault.v2.set('secret/openai', { api_key: 'sk' });
    const under = managersOfTest();
    const document = documentWith(approle());
    await under.read(document);
    vault.tokens.clear();
    expect(await under.managers.check(document)).toEqual([null]);
    expect([vault.logins.length, vault.reads.length]).toEqual([2, 3]);
    upstream.on((request) => request.path.startsWith('/v1/secret/'), reply(403, { errors: ['permission denied'] }));
    expect(await under.managers.check(document)).toEqual([
      expect.stringMatching(/^HashiCorp Vault responded with 403: the token is not valid, or its policy /),
    ]);
    expect(vault.logins).toHaveLength(3);
    expect(
      await under.managers.check(
        documentWith(approle({ auth: { vault_auth_type: 'approle', vault_addr: vault.addr, vault_role_id: 'other' } })),
      ),
    ).toEqual([
      'the login at HashiCorp Vault responded with 400: vault_role_id or vault_secret_id is not valid, the secret id has expired, or auth/approle is not enabled',
    ]);
  });

  it('logs in at the path of the method, and names it in errors', async () => {
    vault.v2.set('secret/openai', { api_key: 'sk' });
    const under = managersOfTest();
    const auth = { vault_auth_type: 'approle', vault_addr: vault.addr, vault_role_id: 'role-1', vault_mount: 'teams/roles' };
    await under.read(documentWith(approle()));
    expect(await under.read(documentWith(approle({ auth })))).toEqual({ api_key: 'sk' });
    expect(vault.logins.map(({ path }) => path)).toEqual(['/v1/auth/approle/login', '/v1/auth/teams/roles/login']);
    expect(await under.managers.check(documentWith(approle({ auth: { ...auth, vault_role_id: 'other' } })))).toEqual([
      expect.stringContaining('or auth/teams/roles is not enabled'),
    ]);
    expect(await under.managers.check(documentWith(approle({ auth: { ...auth, vault_mount: 'a/../b' } })))).toEqual([
      'vault_mount: expected the path of an authentication method',
    ]);
  });

  it('reports an unknown namespace at the login', async () => {
    upstream.on('/v1/auth/approle/login', reply(404, { errors: ['namespace not found'] }));
    expect(await managersOfTest().managers.check(documentWith(approle()))).toEqual([
      'vault_namespace: there is no such namespace',
    ]);
  });

  it('rejects a token that no header can carry', async () => {
    vault.v2.set('secret/openai', { api_key: 'sk' });
    const document = documentWith(approle());
    const auth = { client_token: 'x'.repeat(20_000), lease_duration: 60 };
    upstream.on('/v1/auth/approle/login', reply(200, { auth }));
    expect(await managersOfTest().managers.check(document)).toEqual(['the login at HashiCorp Vault returned no token']);
    expect(vault.reads).toEqual([]);
  });

  it('uses no token of another organisation', async () => {
    vault.v2.set('secret/openai', { api_key: 'sk' });
    const under = managersOfTest();
    await under.read(documentWith(approle()));
    await under.read({ ...documentWith(approle()), organisationId: randomUUID() });
    expect(vault.logins).toHaveLength(2);
  });
});

describe('Vault Kubernetes login', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'pod-')), 'token');
  writeFileSync(file, 'pod-token\n');
  const kubernetes = () => {
    vault.kubernetesRoles.set('gateway', 'pod-token');
    vault.v2.set('secret/openai', { api_key: 'sk' });
    return documentWith(
      mapped({ auth: { vault_auth_type: 'kubernetes', vault_addr: vault.addr, vault_role: 'gateway' }, secrets: {} }),
    );
  };

  it('logs in with the token of the pod', async () => {
    const under = managersOfTest({ machineIdentity: true, serviceAccountTokenFile: file });
    expect(await under.read(kubernetes())).toEqual({ api_key: 'sk' });
    expect(vault.logins[0]?.json()).toEqual({ role: 'gateway', jwt: 'pod-token' });
  });

  it('reports a role that the pod may not use', async () => {
    const document = kubernetes();
    vault.kubernetesRoles.clear();
    const under = managersOfTest({ machineIdentity: true, serviceAccountTokenFile: file });
    expect(await under.managers.check(document)).toEqual([
      'the login at HashiCorp Vault responded with 400: vault_role is not bound to the service account of this pod, or auth/kubernetes is not enabled',
    ]);
  });

  it('sends the pod’s token only if allowed and the host is trusted', async () => {
    const unlent = managersOfTest({ serviceAccountTokenFile: file });
    expect(await unlent.managers.check(kubernetes())).toEqual([expect.stringContaining('MACHINE_IDENTITY')]);
    const lent = managersOfTest({ machineIdentity: true, serviceAccountTokenFile: file });
    const elsewhere = mapped({
      auth: { vault_auth_type: 'kubernetes', vault_addr: 'https://vault.example.com', vault_role: 'gateway' },
      secrets: {},
    });
    expect(await lent.managers.check(documentWith(elsewhere))).toEqual([
      'vault_addr: machine-identity tokens are sent only to hosts in TRUSTED_CUSTOM_HOSTS',
    ]);
    expect(upstream.requests).toEqual([]);
  });

  it('reports that there is no pod', async () => {
    const under = managersOfTest({ machineIdentity: true, serviceAccountTokenFile: '/nowhere/token' });
    expect(await under.managers.check(kubernetes())).toEqual(['this machine has no service account token']);
  });
});

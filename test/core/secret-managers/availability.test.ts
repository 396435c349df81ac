import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakeVault, fakeVault } from '../../support/fakes/fake-vault.ts';
import { until } from '../../support/until.ts';
import {
  type BehaviourLike,
  cutBeforeHead,
  type FakeUpstream,
  invalidJson,
  reply,
  stallBeforeHead,
  startFakeUpstream,
} from '../../support/upstream/fake-upstream.ts';
import { documentWith, type ManagersUnderTest, managersUnderTest, mappedSecret } from './managers-under-test.ts';

/** Values during rotation, outages and rejections. The manager is a Vault with one secret. */
let upstream: FakeUpstream;
let vault: FakeVault;
let under: ManagersUnderTest;
const ttlMs = 300_000;

beforeAll(async () => {
  upstream = await startFakeUpstream();
});
afterAll(() => upstream.close());
beforeEach(() => {
  restore('sk-1');
  under = managersUnderTest({ ttlMs });
});
afterEach(() => under.close());

const mapped = (given: { revision?: number; id?: string; key?: string } = {}) =>
  mappedSecret({
    id: 'reference-1',
    managerType: 'hashicorp_vault',
    path: 'secret/data/openai',
    auth: { vault_auth_type: 'token', vault_addr: vault.addr },
    secrets: { vault_token: 'hvs.given' },
    ...given,
  });
const rotate = (value: string) => void vault.v2.set('secret/openai', { api_key: value });
/** The same manager with this value. */
const restore = (value: string) => {
  upstream.reset();
  vault = fakeVault(upstream);
  vault.tokens.add('hvs.given');
  rotate(value);
};
const fails = (behaviour: BehaviourLike) => upstream.on((request) => request.path.startsWith('/v1/secret/'), behaviour);
/** Number of requests for the value to the manager, on any of its hosts, without renewals of a token. */
const asked = () => upstream.requests.filter(({ path }) => !path.endsWith('/renew-self')).length;
const settled = (fetches: number) =>
  until(() => {
    const counts = under.managers.cache.counts().get('hashicorp_vault');
    return counts && counts.ok + counts.away + counts.refused >= fetches;
  });

it('secret cache: one request for all waiting requests and all documents of a reference', async () => {
  const documents = [documentWith(mapped()), documentWith(mapped())];
  const found = await Promise.all(Array.from({ length: 100 }, (_, index) => under.read(documents[index % 2] as never)));
  expect(found.every(({ api_key: value }) => value === 'sk-1')).toBe(true);
  expect(asked()).toBe(1);
});

it('secret cache: returns the same object while the value is unchanged', async () => {
  const document = documentWith(mapped());
  const values = await under.managers.valuesOf(document);
  expect(under.managers.valuesOf(document)).toBe(values);
  under.advance(ttlMs);
  expect(under.managers.valuesOf(document)).toBe(values);
  await settled(2);
  expect(under.managers.valuesOf(document)).toBe(values);
});

it('secret cache: serves an old value during its refresh, and waits for an expired one', async () => {
  const document = documentWith(mapped());
  await under.read(document);
  rotate('sk-2');
  under.advance(ttlMs - 1);
  expect(await under.read(document)).toEqual({ api_key: 'sk-1' });
  expect(asked()).toBe(1);
  under.advance(1);
  expect(await under.read(document)).toEqual({ api_key: 'sk-1' });
  await settled(2);
  expect(await under.read(document)).toEqual({ api_key: 'sk-2' });
  rotate('sk-3');
  under.advance(2 * ttlMs);
  expect(await under.read(document)).toEqual({ api_key: 'sk-3' });
});

it('secret cache: reads a changed reference again at once', async () => {
  expect(await under.read(documentWith(mapped()))).toEqual({ api_key: 'sk-1' });
  rotate('sk-2');
  expect(await under.read(documentWith(mapped({ revision: 2 })))).toEqual({ api_key: 'sk-2' });
});

describe.each([
  ['does not reply', stallBeforeHead(), 'the secret manager did not reply in time'],
  ['cuts the connection', cutBeforeHead(), 'the secret manager closed the connection before it replied'],
  ['replies with 500', reply(500, 'oops'), 'HashiCorp Vault responded with 500'],
  ['is sealed', reply(503, { errors: ['Vault is sealed'] }), 'HashiCorp Vault responded with 503'],
  ['has too many callers', reply(429, { errors: [] }), 'HashiCorp Vault responded with 429'],
  ['redirects', reply(307, '', { location: 'http://169.254.169.254/' }), 'HashiCorp Vault responded with 307'],
  ['sends invalid JSON', invalidJson(), 'HashiCorp Vault sent a reply that cannot be read'],
  ['sends a list', reply(200, []), 'HashiCorp Vault sent a reply that cannot be read'],
  ['sends no value', reply(200, { data: null }), 'HashiCorp Vault sent a reply without a value'],
  ['sends more than the limit', reply(200, 'x'.repeat(1_100_000)), 'the secret manager sent a reply that cannot be read'],
])('a manager that %s', (what, behaviour, reason) => {
  // Only one of them times out. The others take as long as a busy machine needs.
  const impatientMs = what === 'does not reply' ? 100 : 5_000;

  it('is away: the last value is used, logged once, until it can be read again', async () => {
    const document = documentWith(mapped());
    await under.read(document);
    under.timeoutMs = impatientMs;
    fails(behaviour);
    rotate('sk-2');
    under.advance(2 * ttlMs);
    expect(await under.read(document)).toEqual({ api_key: 'sk-1' });
    expect(await under.managers.check(document)).toEqual([reason]);
    for (const fetches of [4, 5]) {
      under.advance(5_000);
      expect(await under.read(document)).toEqual({ api_key: 'sk-1' });
      await settled(fetches);
    }
    expect(under.logLines.map(({ level, fields }) => [level, fields.reason, fields.kept])).toEqual([['warn', reason, true]]);
    restore('sk-2');
    under.timeoutMs = 5_000;
    under.advance(5_000);
    expect(await under.read(document)).toEqual({ api_key: 'sk-1' });
    await settled(6);
    expect(await under.read(document)).toEqual({ api_key: 'sk-2' });
    expect(under.logLines.map(({ message }) => message)).toEqual([
      'cannot read a secret from its secret manager',
      'reading a secret works again',
    ]);
  });

  it('makes a provider unusable whose value was never read', async () => {
    under.timeoutMs = impatientMs;
    fails(behaviour);
    await expect(under.read(documentWith(mapped()))).rejects.toMatchObject({
      code: 'secret_unavailable',
      status: 503,
      retryAfterMs: 5_000,
      message:
        '@one: key comes from the secret reference our-reference, whose secret manager cannot be reached. Try again shortly',
    });
  });
});

it('secret cache: asks an unavailable manager at most every five seconds', async () => {
  const document = documentWith(mapped());
  fails(reply(503));
  for (let i = 0; i < 5; i++) await expect(under.read(document)).rejects.toMatchObject({ code: 'secret_unavailable' });
  expect(asked()).toBe(1);
  under.advance(4_999);
  await expect(under.read(document)).rejects.toThrow();
  expect(asked()).toBe(1);
  under.advance(1);
  await expect(under.read(document)).rejects.toThrow();
  expect(asked()).toBe(2);
});

it('secret cache: keeps a value through an outage of at most a day', async () => {
  const document = documentWith(mapped());
  await under.read(document);
  fails(cutBeforeHead());
  under.advance(86_399_000);
  expect(await under.read(document)).toEqual({ api_key: 'sk-1' });
  under.advance(6_000);
  await expect(under.read(document)).rejects.toMatchObject({ code: 'secret_unavailable' });
});

describe.each([
  ['denied', () => vault.tokens.clear(), /^HashiCorp Vault responded with 403: the token is not valid, or its policy /],
  ['gone', () => vault.v2.clear(), 'HashiCorp Vault responded with 404: there is no secret at secret_path'],
  ['without the key', () => vault.v2.set('secret/openai', { other: 'x' }), 'the secret has no value "api_key"'],
] as const)('a secret that is %s', (_what, withdraw, reason) => {
  it('stops at once, and works again when access is restored', async () => {
    const document = documentWith(mapped({ key: 'api_key' }));
    await under.read(document);
    withdraw();
    under.advance(2 * ttlMs);
    await expect(under.read(document)).rejects.toMatchObject({
      code: 'secret_unavailable',
      status: 503,
      message:
        '@one: key comes from the secret reference our-reference, which has no usable value. Test the integration to see the reason',
      detail: typeof reason === 'string' ? reason : expect.stringMatching(reason),
    });
    vault.tokens.add('hvs.given');
    rotate('sk-2');
    under.advance(10_000);
    expect(await until(() => under.read(document))).toEqual({ api_key: 'sk-2' });
  });
});

it('secret cache: drops a value that the manager has withdrawn, however new it is', async () => {
  const document = documentWith(mapped());
  const used = await under.managers.valuesOf(document);
  vault.tokens.clear();
  expect(await under.managers.renew(document, used)).toBe(false);
  await expect(under.read(document)).rejects.toMatchObject({ code: 'secret_unavailable' });
});

describe('a value that a provider has rejected', () => {
  it('is read again once for all who report it, and the result shows whether it changed', async () => {
    const document = documentWith(mapped());
    const used = await under.managers.valuesOf(document);
    rotate('sk-2');
    const renewed = await Promise.all(Array.from({ length: 20 }, () => under.managers.renew(document, used)));
    expect(renewed.every(Boolean)).toBe(true);
    expect(asked()).toBe(2);
    const now = await under.managers.valuesOf(document);
    expect(now.credentials.api_key?.reveal()).toBe('sk-2');
    // A holder of the first value gets the second one without another request.
    expect(await under.managers.renew(document, used)).toBe(true);
    expect(asked()).toBe(2);
  });

  it('is read again at most once in ten seconds', async () => {
    const document = documentWith(mapped());
    const used = await under.managers.valuesOf(document);
    expect(await under.managers.renew(document, used)).toBe(false);
    rotate('sk-2');
    under.advance(9_999);
    expect(await under.managers.renew(document, used)).toBe(false);
    expect(asked()).toBe(2);
    under.advance(1);
    expect(await under.managers.renew(document, used)).toBe(true);
    expect(asked()).toBe(3);
  });

  it('stays while the manager is away', async () => {
    const document = documentWith(mapped());
    const used = await under.managers.valuesOf(document);
    fails(reply(500));
    expect(await under.managers.renew(document, used)).toBe(false);
    expect(under.managers.valuesOf(document)).toBe(used);
  });
});

it('secret cache: accepts secrets of at most 65,536 characters', async () => {
  const fields = { api_key: 'sk-1', notes: 'x'.repeat(65_000) };
  vault.v2.set('secret/openai', fields);
  const document = documentWith(mapped({ key: 'api_key' }));
  expect(await under.read(document)).toEqual({ api_key: 'sk-1' });
  vault.v2.set('secret/openai', { ...fields, more: 'x'.repeat(1_000) });
  expect(await under.managers.check(document)).toEqual(['the secret is longer than 65536 characters']);
  await expect(under.read(document)).rejects.toMatchObject({ code: 'secret_unavailable' });
});

it('secret cache: metrics count requests to managers and show the age of values', async () => {
  const document = documentWith(mapped());
  await under.read(document);
  under.advance(100_000);
  await under.read(document);
  expect(under.managers.cache.oldestInUseMs()).toBe(100_000);
  fails(reply(500));
  await under.managers.check(document);
  restore('sk-1');
  vault.tokens.clear();
  await under.managers.check(document);
  expect(under.managers.cache.counts().get('hashicorp_vault')).toEqual({ ok: 1, away: 1, refused: 1 });
  under.advance(60_000);
  expect(under.managers.cache.oldestInUseMs()).toBe(0);
});

it('secret cache: errors contain no values, tokens or paths', async () => {
  const document = documentWith(mapped());
  await under.read(document);
  vault.tokens.clear();
  const said = [...(await under.managers.check(document))];
  for (const read of [() => under.read(document), () => under.managers.valuesOf(document) as Promise<unknown>]) {
    try {
      await read();
    } catch (error) {
      said.push(String(error), JSON.stringify(error), (error as Error).stack ?? '');
    }
  }
  const all = [...said, JSON.stringify(under.logLines), JSON.stringify(document)].join('\n');
  for (const planted of ['sk-1', 'hvs.given']) expect(all).not.toContain(planted);
  expect(said.join('\n')).not.toContain('secret/data');
});

import type { KeyObject } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { checkJwk, checkKeySetUrl } from '../../../core/contract/protocol/credentials/key-set.ts';
import { parseTrustedHosts } from '../../../core/contract/values/addresses/outbound-url.ts';
import { goodKeys } from '../../../core/jwt/key-sets.ts';
import { newSigningKey } from '../../support/samples/tokens.ts';
import { newUnderTest, organisationId, otherOrganisationId, type UnderTest } from './verifier-under-test.ts';

const first = newSigningKey('first');
const second = newSigningKey('second');

/** Replies by URL; a URL that is missing here is unavailable. */
const hosts = new Map<string, ReadonlyMap<string, KeyObject>>();
const asked: string[] = [];
let test: UnderTest;
beforeEach(() => {
  hosts.clear();
  asked.length = 0;
  test = newUnderTest(async (url) => {
    asked.push(url);
    const keys = hosts.get(url);
    if (!keys) throw new Error('it is away');
    return keys;
  });
  test.setTokens(organisationId, { urls: ['a', 'b'] });
});

const setOf = (...keys: { jwk: object }[]) => goodKeys(keys.map(({ jwk }) => jwk));
const by = (key: typeof first) => test.sign({}, {}, key);
const named = (kid: string) => test.sign({}, { kid }, second);

describe('key sets at URLs', () => {
  it('are merged, and fetched once for all waiting requests', async () => {
    hosts.set('a', setOf(first)).set('b', setOf(second));
    await Promise.all([test.verify(by(first)), test.verify(by(second)), test.verify(by(first))]);
    await test.verify(by(second));
    expect(asked.sort()).toEqual(['a', 'b']);
  });

  it('are fetched again for the same unknown key at most every 30 seconds', async () => {
    hosts.set('a', setOf(first)).set('b', setOf());
    await test.verify(by(first));
    const token = by(second);
    expect(await test.refusal(token)).toMatchObject({ code: 'invalid_api_key', status: 401 });
    hosts.set('b', setOf(second));
    test.nowMs += 29_000;
    expect(await test.refusal(token)).toMatchObject({ status: 401 });
    expect(asked).toHaveLength(4);
    test.nowMs += 2_000;
    await test.verify(token);
    expect(asked).toHaveLength(6);
  });

  it('are fetched at once for a new key, while a client sends JWTs with a foreign one', async () => {
    test.setTokens(organisationId, { urls: ['a'] });
    hosts.set('a', setOf(first));
    const foreign = named('foreign');
    for (let n = 0; n < 10; n++) expect(await test.refusal(foreign)).toMatchObject({ status: 401 });
    expect(asked).toHaveLength(1);
    hosts.set('a', setOf(second));
    await test.verify(by(second));
    expect(await test.refusal(foreign)).toMatchObject({ status: 401 });
    expect(asked).toHaveLength(2);
  });

  it('are fetched for many unknown keys at most every five seconds, and a key that was not looked for is no 401', async () => {
    test.setTokens(organisationId, { urls: ['a'] });
    hosts.set('a', setOf(first));
    await test.verify(by(first));
    for (let n = 0; n < 6; n++) expect(await test.refusal(named(`foreign ${n}`))).toMatchObject({ status: 401 });
    hosts.set('a', setOf(second));
    test.nowMs += 2_000;
    expect(await test.refusal(by(second))).toMatchObject({ code: 'unavailable', status: 503, retryAfterMs: 3_000 });
    expect(await test.refusal(named('foreign 0'))).toMatchObject({ status: 401 });
    expect(asked).toHaveLength(7);
    test.nowMs += 3_000;
    await test.verify(by(second));
    expect(await test.refusal(named('foreign 6'))).toMatchObject({ status: 503, retryAfterMs: 5_000 });
    test.nowMs += 30_000;
    for (let n = 7; n < 14; n++) expect(await test.refusal(named(`foreign ${n}`))).toMatchObject({ status: 401 });
    expect(await test.refusal(named('foreign 14'))).toMatchObject({ status: 503 });
    expect(asked).toHaveLength(15);
  });

  it('are fetched again after five seconds if the last fetch failed', async () => {
    hosts.set('a', setOf(first)).set('b', setOf());
    await test.verify(by(first));
    hosts.delete('b');
    expect(await test.refusal(by(second))).toMatchObject({ status: 503, retryAfterMs: 5_000 });
    hosts.set('b', setOf(second));
    expect(await test.refusal(by(second))).toMatchObject({ status: 503 });
    test.nowMs += 5_000;
    await test.verify(by(second));
  });

  it('no longer verify new JWTs with a removed key, and keep verified ones valid', async () => {
    hosts.set('a', setOf(first)).set('b', setOf());
    const old = by(first);
    await test.verify(old);
    hosts.set('a', setOf(second));
    test.nowMs += 31_000;
    await test.verify(by(second));
    expect(await test.refusal(by(first))).toMatchObject({ status: 401 });
    await test.verify(old);
  });

  it('are refreshed after ten minutes in the background', async () => {
    hosts.set('a', setOf(first)).set('b', setOf());
    await test.verify(by(first));
    hosts.set('a', setOf(second));
    test.nowMs += 601_000;
    await test.verify(by(first));
    expect(asked).toHaveLength(4);
    expect(await test.refusal(by(first))).toMatchObject({ status: 401 });
  });

  it('cause 503 if they cannot be fetched, and known keys stay valid for a day', async () => {
    expect(await test.refusal(by(first))).toMatchObject({ code: 'unavailable', status: 503, retryAfterMs: 5_000 });
    hosts.set('a', setOf(first));
    test.nowMs += 4_000;
    expect(await test.refusal(by(first))).toMatchObject({ status: 503 });
    test.nowMs += 2_000;
    await test.verify(by(first));
    // The other host may have the key, so it cannot be reported as unknown.
    expect(await test.refusal(by(second))).toMatchObject({ status: 503 });
    hosts.clear();
    test.nowMs += 86_000_000;
    await test.verify(test.sign({ exp: Math.floor(test.nowMs / 1000) + 60 }, {}, first));
    test.nowMs += 500_000;
    const late = test.sign({ exp: Math.floor(test.nowMs / 1000) + 60 }, {}, first);
    expect(await test.refusal(late)).toMatchObject({ status: 503 });
    expect(test.log.lines.filter(({ message }) => message.includes('cannot read the signing keys')).length).toBeLessThan(4);
  });

  it('do not delay other organisations if their hosts do not respond', async () => {
    const hanging = newUnderTest((url) => (url === 'replies' ? Promise.resolve(setOf(first)) : new Promise(() => undefined)));
    hanging.setTokens(organisationId, { urls: Array.from({ length: 70 }, (_, n) => `hangs ${n}`) });
    hanging.setTokens(otherOrganisationId, { urls: ['replies'] });
    expect(await hanging.refusal(hanging.sign({}, {}, first))).toMatchObject({ code: 'overloaded', status: 503 });
    const claims = { svc_oid: otherOrganisationId, svc_workspace: 'ws-foreign' };
    expect(await hanging.refusal(hanging.sign(claims, {}, second))).toMatchObject({ status: 401 });
  });

  it('belong to one organisation, even with the same URL', async () => {
    hosts.set('a', setOf(first)).set('b', setOf());
    test.setTokens(otherOrganisationId, { urls: ['c'] });
    hosts.set('c', setOf(second));
    await test.verify(by(first));
    expect(await test.refusal(by(second))).toMatchObject({ status: 401 });
    expect(asked).not.toContain('c');
  });
});

describe('a public key', () => {
  const { jwk } = first;

  it.each([
    ['the private one', { ...jwk, d: 'AQAB' }, 'd'],
    ['a symmetric one', { kty: 'oct', kid: 'a', k: 'AQAB' }, 'k'],
    ['an elliptic one', { kty: 'EC', kid: 'a', crv: 'P-256', x: 'A', y: 'A' }, 'kty'],
    ['without a kid', { ...jwk, kid: undefined }, 'kid'],
    ['for another algorithm', { ...jwk, alg: 'PS256' }, 'alg'],
    ['for encryption', { ...jwk, use: 'enc' }, 'use'],
    ['for signing only', { ...jwk, key_ops: ['sign'] }, 'key_ops'],
    ['of 1024 bits', newSigningKey('short', 1024).jwk, 'n'],
    ['with a modulus that is none', { ...jwk, n: 'A' }, 'n'],
    ['with letters that are none of base64url', { ...jwk, n: `${jwk.n}=` }, 'n'],
    ['with an exponent of 1', { ...jwk, e: 'AQ' }, 'e'],
    ['with a very long exponent', { ...jwk, e: `${'A'.repeat(43)}E` }, 'e'],
    ['that is none', 'key', ''],
  ])('with %s is skipped, and reported by parameter', (_what, given, field) => {
    const check = checkJwk(given);
    expect(check).toMatchObject({ ok: false, field });
    expect(goodKeys([given, jwk]).size).toBe(1);
  });

  it('is stored with its public parameters only', () => {
    expect(checkJwk({ ...jwk, use: 'sig', alg: 'RS256', key_ops: ['verify'], x5c: ['…'], more: 1 })).toMatchObject({
      ok: true,
      jwk,
    });
  });
});

describe('the URL of a key set', () => {
  const trusted = parseTrustedHosts(['127.0.0.1', 'idp.internal.example']);

  it.each([
    'http://id.example.com/jwks',
    'https://169.254.169.254/keys',
    'https://10.0.0.1/keys',
    'https://localhost/keys',
    'https://user:pass@id.example.com/jwks',
    'ftp://id.example.com/jwks',
    'https://id.example.com/jwks#a',
    '',
  ])('cannot be %s', (url) => {
    expect(checkKeySetUrl(url, trusted).ok).toBe(false);
  });

  it.each([
    ['https://id.example.com/realms/a/?x=1', 'https://id.example.com', '/realms/a/?x=1'],
    ['https://id.example.com', 'https://id.example.com', '/'],
    ['http://127.0.0.1:9000/jwks/', 'http://127.0.0.1:9000', '/jwks/'],
    ['http://idp.internal.example/jwks', 'http://idp.internal.example', '/jwks'],
  ])('can be %s, with an unchanged path', (url, origin, path) => {
    expect(checkKeySetUrl(url, trusted)).toEqual({ ok: true, origin, path });
  });
});

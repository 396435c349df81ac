import { createHmac, createPublicKey } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { newSigningKey, signToken } from '../../support/samples/tokens.ts';
import { goodClaims, newUnderTest, organisationId, otherOrganisationId, type UnderTest } from './verifier-under-test.ts';

let test: UnderTest;
beforeEach(() => {
  test = newUnderTest();
});

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const seconds = (ms: number) => Math.floor(ms / 1000);

/** A token that no library would create. */
function forge(header: object, claims: object, signature: (input: string) => string): string {
  const input = `${base64url(header)}.${base64url({ exp: seconds(Date.now()) + 60, ...claims })}`;
  return `${input}.${signature(input)}`;
}

describe('a JWT', () => {
  it('signed by its organisation is the caller, with its scopes and an opaque id', async () => {
    const token = test.sign({ scope: 'completions.write svc.models.list', sub: 'machine 7' });
    const { identity, scopes } = await test.verify(token);
    expect(identity).toMatchObject({ organisationId, userId: null, tokenSubject: 'machine 7', limits: null });
    expect([...identity.scopes]).toEqual(['completions.write', 'models.list']);
    expect(scopes).toEqual(['completions.write', 'models.list']);
    expect(identity.keyId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const other = await test.verify(test.sign({ sub: 'machine 7' }));
    expect(other.identity.keyId).not.toBe(identity.keyId);
  });

  it('has one id, and so one set of limits, in every spelling of its signature', async () => {
    const token = test.sign();
    const signs = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    // 256 bytes: the last character has four unused bits.
    const last = signs.indexOf(token.slice(-1));
    const other = `${token.slice(0, -1)}${signs[last ^ 1]}`;
    const { keyId } = (await test.verify(token)).identity;
    for (const spelling of [other, `${token}==`]) expect((await test.verify(spelling)).identity.keyId).toBe(keyId);
  });

  it('is verified once, and then found without its keys until it ends', async () => {
    const token = test.sign();
    const first = await test.verify(token);
    const again = test.tokens.verify({ token, workspace: null, clientAddress: '192.0.2.1' });
    expect(again).not.toBeInstanceOf(Promise);
    expect(again).toBe(first);
    test.nowMs += 3_604_000;
    expect(test.tokens.verify({ token, workspace: null, clientAddress: '192.0.2.1' })).toBe(first);
    test.nowMs += 2_000;
    expect(await test.refusal(token)).toMatchObject({ code: 'api_key_expired', status: 401 });
  });

  it('is valid until its exp, at most for the maximum lifetime of the organisation', async () => {
    const now = seconds(test.nowMs);
    const years = { iat: now, exp: now + 10 * 31_536_000 };
    await test.verify(test.sign(years));
    test.setTokens(organisationId, { keys: [test.key.jwk], maxTtlSeconds: 600 });
    // A token that was verified before is verified again.
    const known = test.sign({ iat: now, exp: now + 600 });
    await test.verify(known);
    for (const claims of [
      years,
      { iat: now, exp: now + 700 },
      { iat: undefined, exp: now + 700 },
      // Close to its expiry, and older than the maximum age.
      { iat: now - 3_600, exp: now + 60 },
      // A start in the future does not shorten the lifetime.
      { iat: now + 4, exp: now + 700 },
    ]) {
      const error = await test.refusal(test.sign(claims));
      expect([error.status, error.message]).toEqual([
        401,
        expect.stringContaining('the claim exp is more than 600 seconds ahead'),
      ]);
    }
    await test.verify(test.sign({ iat: undefined, exp: now + 500 }));
    test.setTokens(organisationId, { keys: [test.key.jwk], maxTtlSeconds: 300 });
    expect((await test.refusal(known)).message).toContain('300 seconds');
  });

  it.each([
    ['nothing of a JWT', 'eyJ'],
    ['two parts', 'eyJhbGciOiJSUzI1NiJ9.eyJ9'],
    ['four parts', 'eyJhbGciOiJSUzI1NiJ9.e30.e30.e30'],
    ['no JSON in it', 'eyJxx.eyJxx.xx'],
    ['a list as payload', `${base64url({ alg: 'RS256', kid: 'a' })}.${Buffer.from('[]').toString('base64url')}.xx`],
    ['more than 16 KiB', `eyJ${'a'.repeat(16_384)}`],
  ])('with %s is rejected', async (_what, token) => {
    expect(await test.refusal(token)).toMatchObject({ code: 'invalid_api_key', status: 401 });
  });

  it('must be signed with RS256', async () => {
    const header = { alg: 'none', typ: 'JWT', kid: test.key.kid };
    expect((await test.refusal(forge(header, goodClaims, () => ''))).message).toContain('alg');
    const pem = createPublicKey({ key: { ...test.key.jwk }, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const hmac = (input: string) => createHmac('sha256', pem).update(input).digest('base64url');
    expect((await test.refusal(forge({ ...header, alg: 'HS256' }, goodClaims, hmac))).message).toContain('alg');
    expect((await test.refusal(test.sign({}, { alg: 'RS384' }))).message).toContain('alg');
    expect((await test.refusal(test.sign({}, { alg: 'PS256' }))).message).toContain('alg');
    // The header names RS256, but the signature is an HMAC.
    expect((await test.refusal(forge({ ...header, alg: 'RS256' }, goodClaims, hmac))).message).toContain('signature');
  });

  it('must name its key and may not contain one', async () => {
    const stranger = newSigningKey(test.key.kid);
    expect((await test.refusal(test.sign({}, { kid: undefined }))).message).toContain('kid');
    expect((await test.refusal(test.sign({}, { kid: 'unknown' }))).message).toContain('kid');
    expect((await test.refusal(test.sign({}, {}, stranger))).message).toContain('signature');
    for (const own of [
      { jwk: stranger.jwk },
      { jku: 'https://keys.example.com' },
      { x5u: 'https://a.example' },
      { x5c: ['a'] },
    ]) {
      expect((await test.refusal(test.sign({}, own, stranger))).message).toContain(Object.keys(own)[0]);
    }
    const critical = forge({ alg: 'RS256', kid: test.key.kid, crit: ['x'], x: 1 }, goodClaims, () => 'AAAA');
    expect(await test.refusal(critical)).toMatchObject({ status: 401 });
  });

  it.each(['logout+jwt', 'secevent+jwt', 7])('with the type %s is rejected', async (typ) => {
    expect((await test.refusal(test.sign({}, { typ }))).message).toContain('typ');
  });

  it('with a changed payload is rejected', async () => {
    const [header, , signature] = test.sign().split('.');
    const payload = base64url({ ...goodClaims, exp: 9_999_999_999, scope: 'logs.read' });
    expect((await test.refusal(`${header}.${payload}.${signature}`)).message).toContain('signature');
  });

  it('must have an end, with five seconds of skew at both ends', async () => {
    const now = seconds(test.nowMs);
    expect((await test.refusal(test.sign({ exp: undefined }))).message).toContain('exp');
    expect((await test.refusal(test.sign({ exp: 'tomorrow' }))).message).toContain('exp');
    expect(await test.refusal(test.sign({ exp: now - 7 }))).toMatchObject({ code: 'api_key_expired' });
    await test.verify(test.sign({ exp: now - 3 }));
    await test.verify(test.sign({ nbf: now + 3, iat: now + 3 }));
    expect((await test.refusal(test.sign({ nbf: now + 8 }))).message).toContain('the claim nbf is in the future');
    expect((await test.refusal(test.sign({ nbf: 'now' }))).message).toContain('the claim nbf is invalid');
    expect((await test.refusal(test.sign({ iat: now + 8 }))).message).toContain('iat is in the future. Check the clocks');
  });

  it('must match issuer and audience if the organisation sets them', async () => {
    test.setTokens(organisationId, { keys: [test.key.jwk], issuer: 'https://id.example.com', audience: 'gateway' });
    await test.verify(test.sign({ iss: 'https://id.example.com', aud: ['other', 'gateway'] }));
    const reasonFor = async (claims: Parameters<typeof test.sign>[0]) => (await test.refusal(test.sign(claims))).message;
    expect(await reasonFor({ iss: 'https://id.example.com' })).toMatch(/^Invalid token: the claim aud .*\(jwt\.audience\)$/);
    expect(await reasonFor({ iss: 'https://evil.example', aud: 'gateway' })).toMatch(
      /^Invalid token: the claim iss .*\(jwt\.issuer\)$/,
    );
  });

  it('becomes invalid with the setting that verified it, and survives other changes', async () => {
    const token = test.sign();
    await test.verify(token);
    test.setTokens(organisationId, { keys: [test.key.jwk] });
    await test.verify(token);
    test.setTokens(organisationId, { keys: [newSigningKey().jwk] });
    expect((await test.refusal(token)).message).toContain('kid');
    test.documents.delete(`organisation ${organisationId}`);
    expect(await test.refusal(token)).toMatchObject({ code: 'forbidden', status: 403 });
  });
});

describe('JWTs of another organisation', () => {
  it('cannot be forged with own keys', async () => {
    const own = newSigningKey();
    test.setTokens(otherOrganisationId, { keys: [own.jwk] });
    await test.verify(signToken(own, { ...goodClaims, svc_oid: otherOrganisationId, svc_workspace: 'ws-foreign' }));
    expect((await test.refusal(test.sign({}, {}, own))).message).toContain('kid');
    const sameKid = { ...newSigningKey(test.key.kid) };
    test.setTokens(otherOrganisationId, { keys: [sameKid.jwk] });
    expect((await test.refusal(test.sign({}, {}, sameKid))).message).toContain('signature');
  });

  it('get the same error as those of an organisation without JWTs', async () => {
    const unknown = await test.refusal(test.sign({ svc_oid: '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0fff' }));
    const without = await test.refusal(test.sign({ svc_oid: otherOrganisationId }));
    expect(unknown).toMatchObject({ code: 'forbidden', status: 403 });
    expect(without.message).toBe(unknown.message);
  });

  it('cause no look-up for an address with too many failures', async () => {
    const token = test.sign();
    const { get } = test.reader;
    test.reader.get = (kind, id) => (kind === 'organisation' ? Promise.resolve(get(kind, id)) : get(kind, id)) as never;
    await test.verify(test.sign());
    expect(await test.refusal(token, { isHeldBack: true })).toMatchObject({ code: 'too_many_failures', status: 429 });
    test.reader.get = get;
    await test.verify(token, { isHeldBack: true });
  });
});

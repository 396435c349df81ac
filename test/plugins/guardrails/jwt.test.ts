import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import type { PluginRequest } from '../../../core/contract/plugin/plugin.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness } from '../../../core/test-kit/pipeline-harness.ts';
import { rememberedMs } from '../../../plugins/guardrails/checks/jwt/introspection.ts';

const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
const other = await generateKeyPair('RS256');
const jwk: JWK = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' };
const jwks = { keys: [jwk] };
const secret = new TextEncoder().encode('secret-secret-secret-secret-secret');

interface Shape {
  readonly claims?: JsonObject;
  readonly kid?: string;
  readonly exp?: string;
  readonly iat?: number;
  readonly key?: typeof privateKey;
}

function token({
  claims = { sub: 'user-1', role: 'admin', groups: ['a', 'b'], scope: 'read write' },
  kid = 'k1',
  exp,
  iat,
  key = privateKey,
}: Shape = {}) {
  const jwt = new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid });
  if (exp) jwt.setExpirationTime(exp);
  if (iat) jwt.setIssuedAt(iat);
  return jwt.sign(key);
}

type Reply = (request: PluginRequest) => { status: number; json: unknown } | 'down';

async function ask(
  parameters: JsonObject,
  headers: Record<string, string>,
  replies: Reply = () => 'down',
  times = 1,
  config: JsonObject = {},
) {
  const calls: PluginRequest[] = [];
  const gateway = createHarness({
    fetch(request) {
      calls.push(request);
      const reply = replies(request);
      if (reply === 'down') return Promise.reject(new GatewayError('upstream_connect'));
      return Promise.resolve({ status: reply.status, headers: [], body: Buffer.from(JSON.stringify(reply.json)) });
    },
  });
  const guardrail = { 'default.jwt': { headerKey: 'X-User-Token', ...parameters }, id: 'g', deny: true };
  const all = { provider: '@one', input_guardrails: [guardrail], ...config };
  let sink = null;
  for (let i = 0; i < times; i++) {
    sink = await gateway.send({
      headers: { 'x-svc-config': JSON.stringify(all), ...headers },
      body: { model: 'm', messages: [{ role: 'user', content: 'hello' }] },
    });
  }
  const reply = JSON.parse(sink?.text ?? '{}') as JsonObject;
  const hook = (reply.hook_results as { before_request_hooks: { checks: JsonObject[] }[] } | undefined)?.before_request_hooks[0];
  return { status: sink?.status, data: hook?.checks[0]?.data, text: sink?.text ?? '', calls, records: gateway.records };
}

const header = async (shape?: Shape) => ({ 'x-user-token': await token(shape) });

describe('default.jwt with keys', () => {
  it('passes a valid token, with Bearer or without', async () => {
    const data = { verdict: true, explanation: 'JWT token validation succeeded', validations: { signatureValid: true } };
    expect(await ask({ jwks }, await header())).toMatchObject({ status: 200, data });
    expect((await ask({ jwks: JSON.stringify(jwks) }, { 'x-user-token': `Bearer ${await token()}` })).status).toBe(200);
    const own = { 'default.jwt': { jwks }, id: 'g', deny: true };
    const asked = await ask({ jwks }, { ...(await header()), authorization: `Bearer ${await token()}` }, undefined, 1, {
      input_guardrails: [own],
    });
    expect(asked.status).toBe(200);
  });

  it.each<[string, () => Promise<Record<string, string>>, string]>([
    ['no header', async () => ({}), 'Missing authorization header'],
    ['no token', async () => ({ 'x-user-token': 'abc' }), 'JWT validation error: Invalid JWT'],
    ['unknown kid', () => header({ kid: 'zz' }), 'No matching key found for kid'],
    ['expired', () => header({ exp: '-1h' }), 'JWT signature validation error: "exp" claim timestamp check failed'],
    [
      'too old',
      () => header({ iat: 1_600_000_000 }),
      'JWT signature validation error: "iat" claim timestamp check failed (too far in the past)',
    ],
    [
      'signed by another key',
      () => header({ key: other.privateKey }),
      'JWT signature validation error: signature verification failed',
    ],
    [
      'unsigned',
      async () => ({ 'x-user-token': `${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.` }),
      'JWT validation error: the algorithm is not one of RS256',
    ],
    [
      'signed with the public key as secret',
      async () => ({
        'x-user-token': await new SignJWT({}).setProtectedHeader({ alg: 'HS256', kid: 'k1' }).sign(Buffer.from(String(jwk.n))),
      }),
      'JWT validation error: the algorithm is not one of RS256',
    ],
  ])('denies: %s', async (_name, headers, explanation) => {
    const { status, data } = await ask({ jwks }, await headers());
    expect([status, (data as JsonObject).explanation]).toEqual([446, explanation]);
  });

  it('never uses a public key as a shared secret, even if both algorithms are allowed', async () => {
    const forged = await new SignJWT({}).setProtectedHeader({ alg: 'HS256', kid: 'k1' }).sign(Buffer.from(String(jwk.n)));
    expect((await ask({ jwks, algorithms: ['RS256', 'HS256'] }, { 'x-user-token': forged })).status).toBe(446);
  });

  it('verifies HS256 with a key of type oct', async () => {
    const keys = { keys: [{ kty: 'oct', kid: 'h1', k: Buffer.from(secret).toString('base64url'), alg: 'HS256' }] };
    const signed = await new SignJWT({}).setProtectedHeader({ alg: 'HS256', kid: 'h1' }).sign(secret);
    expect((await ask({ jwks: keys, algorithms: ['HS256'] }, { 'x-user-token': signed })).status).toBe(200);
  });

  it.each<[JsonObject, number, string]>([
    [{ requiredClaims: ['sub', 'role'] }, 200, 'succeeded'],
    [{ requiredClaims: ['sub', 'email', 'zz'] }, 446, 'JWT validation failed: Missing required claims: email, zz'],
    [{ claimValues: { role: { values: 'admin' } } }, 200, 'succeeded'],
    [{ claimValues: { role: { values: ['user', 'guest'] } } }, 446, 'Claims with other values: role'],
    [{ claimValues: { groups: { values: ['b', 'z'], matchType: 'contains' } } }, 200, 'succeeded'],
    [{ claimValues: { groups: { values: ['b', 'z'], matchType: 'containsAll' } } }, 446, 'groups'],
    [{ claimValues: { scope: { values: ['write'], matchType: 'contains' } } }, 200, 'succeeded'],
    [{ claimValues: { sub: { values: '^user-\\d$', matchType: 'regex' } } }, 200, 'succeeded'],
    [{ claimValues: { sub: { values: '^x', matchType: 'regex' } } }, 446, 'sub'],
    [{ headerPayloadMatch: ['role'] }, 200, 'succeeded'],
    [{ headerPayloadMatch: ['sub'] }, 446, 'Headers that differ from the claims: sub'],
  ])('%j', async (parameters, status, explanation) => {
    const { status: got, data } = await ask({ jwks, ...parameters }, { ...(await header()), role: 'admin', sub: 'somebody' });
    expect([got, String((data as JsonObject).explanation)]).toEqual([status, expect.stringContaining(explanation)]);
  });

  it('extractClaims: adds metadata that conditional routing sees', async () => {
    const conditional = {
      strategy: { mode: 'conditional', conditions: [{ query: { 'metadata.x-jwt-role': 'admin' }, then: 'b' }], default: 'a' },
      targets: [
        { name: 'a', provider: '@one' },
        { name: 'b', provider: '@two' },
      ],
    };
    const guardrail = { 'default.jwt': { jwks, headerKey: 'x-user-token', extractClaims: ['role', 'missing'] }, deny: true };
    const { provider: _none, ...config } = { provider: null, ...conditional, input_guardrails: [guardrail] };
    const { status, records } = await ask({ jwks }, await header(), undefined, 1, { provider: undefined, ...config });
    expect([status, records[0]?.providerSlug ?? records[0]]).toEqual([200, 'two']);
  });

  it('runs on routes without text', async () => {
    const gateway = createHarness();
    const config = { provider: '@one', input_guardrails: [{ 'default.jwt': { jwks }, deny: true }] };
    const headers = { 'x-svc-config': JSON.stringify(config) };
    expect((await gateway.send({ method: 'GET', path: '/v1/files', headers })).status).toBe(446);
  });
});

describe('default.jwt with an address of keys', () => {
  const jwksUri = 'https://id.example.com/jwks';
  const served: Reply = () => ({ status: 200, json: jwks });

  it('reads the keys once for several requests', async () => {
    const { status, calls } = await ask({ jwksUri }, await header(), served, 3);
    expect([status, calls.map(({ url }) => url)]).toEqual([200, [jwksUri]]);
  });

  it('does not read them again for every unknown kid', async () => {
    const { status, calls } = await ask({ jwksUri }, await header({ kid: 'zz' }), served, 3);
    expect([status, calls.length]).toEqual([446, 1]);
  });

  it.each<[string, Reply]>([
    ['down', () => 'down'],
    ['status 500', () => ({ status: 500, json: {} })],
    ['no key set', () => ({ status: 200, json: { a: 1 } })],
  ])('fails closed if the keys cannot be read: %s', async (_name, replies) => {
    expect((await ask({ jwksUri }, await header(), replies)).status).toBe(446);
    expect((await ask({ jwksUri, failOnError: false }, await header(), replies)).status).toBe(200);
  });
});

describe('default.jwt with introspection', () => {
  const introspectEndpoint = 'https://id.example.com/introspect';
  const opaque = { 'x-user-token': 'opaque' };
  const active: Reply = () => ({ status: 200, json: { active: true, sub: 'u' } });
  const inactive: Reply = () => ({ status: 200, json: { active: false } });

  it('sends the token as JSON or as a form', async () => {
    const { status, calls } = await ask({ introspectEndpoint }, opaque, active);
    expect([status, calls[0]?.body]).toEqual([200, { token: 'opaque' }]);
    const form = await ask({ introspectEndpoint, introspectContentType: 'application/x-www-form-urlencoded' }, opaque, active);
    expect([form.status, form.calls[0]?.body]).toEqual([200, 'token=opaque']);
  });

  it('remembers active tokens if asked', async () => {
    expect((await ask({ introspectEndpoint, introspectCacheMaxAge: 60 }, opaque, active, 3)).calls).toHaveLength(1);
    expect((await ask({ introspectEndpoint }, opaque, active, 3)).calls).toHaveLength(3);
  });

  it('remembers them for at most 5 minutes and not beyond their expiry', () => {
    const now = 1_800_000_000_000;
    const cases: [maxAge: number, claims: JsonObject, ms: number][] = [
      [60, {}, 60_000],
      [3_600, {}, 300_000],
      [3_600, { exp: 1_800_000_100 }, 100_000],
      [60, { exp: 1_800_000_100 }, 60_000],
      [0, { exp: 1_800_000_100 }, 0],
    ];
    for (const [maxAge, claims, ms] of cases)
      expect([maxAge, claims, rememberedMs(maxAge, claims, now)]).toEqual([maxAge, claims, ms]);
  });

  it('asks again about a token that was not active', async () => {
    expect((await ask({ introspectEndpoint, introspectCacheMaxAge: 60 }, opaque, inactive, 3)).calls).toHaveLength(3);
  });

  it('accepts only tokens for the audience that the check names', async () => {
    const claimValues = { aud: { values: 'gateway', matchType: 'contains' } };
    const forAudience = async (aud: unknown) =>
      (
        await ask({ introspectEndpoint, claimValues }, opaque, () => ({
          status: 200,
          json: { active: true, ...(aud ? { aud } : {}) },
        }))
      ).status;
    expect(await Promise.all(['gateway', ['other', 'gateway'], 'other', ['other'], null].map(forAudience))).toEqual([
      200, 200, 446, 446, 446,
    ]);
  });

  it.each<[string, Reply]>([
    ['not valid yet', () => ({ status: 200, json: { active: true, nbf: 4_000_000_000 } })],
    ['inactive', () => ({ status: 200, json: { active: false } })],
    ['active as text', () => ({ status: 200, json: { active: 'true' } })],
    ['expired', () => ({ status: 200, json: { active: true, exp: 1 } })],
    ['status 401', () => ({ status: 401, json: { active: true } })],
    ['down', () => 'down'],
  ])('denies: %s', async (_name, replies) => {
    const { status, text } = await ask({ introspectEndpoint }, opaque, replies);
    expect([status, text.includes('opaque')]).toEqual([446, false]);
  });
});

it.each<[JsonObject, string]>([
  [{}, 'jwks: expected exactly one of'],
  [{ jwks, jwksUri: 'https://a.example/jwks' }, 'jwks: expected exactly one of'],
  [{ jwksUri: 'nope' }, 'jwksUri'],
  [{ jwks, algorithms: ['none'] }, 'algorithms[0]'],
  [{ jwks, claimValues: { a: { values: '(', matchType: 'regex' } } }, 'claimValues'],
  [{ jwks, maxTokenAge: 'long' }, 'maxTokenAge'],
])('config is rejected: %j', async (parameters, field) => {
  const { status, text } = await ask(parameters, {});
  expect(status).toBe(400);
  expect(text).toContain('input_guardrails[0].default.jwt.');
  expect(text).toContain(field);
});

import { createPrivateKey, generateKeyPairSync, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createTokenCaches } from '../../../../core/cloud-auth/token-cache.ts';
import type { OutgoingCall } from '../../../../core/contract/provider/provider.ts';
import type { SignServices, TokenRequest } from '../../../../core/contract/provider/sign-services.ts';
import { Secret } from '../../../../core/contract/values/credentials/secret.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { vertexAi } from '../../../../core/providers/vertex-ai/index.ts';
import { rs256 } from '../../../../core/providers/vertex-ai/service-account.ts';
import rfc7515 from './rfc7515-a2.json' with { type: 'json' };

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;

function serviceAccount(more: JsonObject = {}): JsonObject {
  return {
    type: 'service_account',
    project_id: 'acme-prod',
    private_key_id: 'k1',
    private_key: pem,
    client_email: 'svc-1@acme-prod.iam.gserviceaccount.com',
    ...more,
  };
}

function federated(source: JsonObject, more: JsonObject = {}): JsonObject {
  const audience = '//iam.googleapis.com/projects/12/locations/global/workloadIdentityPools/p1/providers/idp';
  return {
    type: 'external_account',
    audience,
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: 'https://sts.googleapis.com/v1/token',
    credential_source: source,
    ...more,
  };
}

type Reply = { status: number; body: string };
const json = (body: JsonObject, status = 200): Reply => ({ status, body: JSON.stringify(body) });
const grant = (token: string): Reply => json({ access_token: token, expires_in: 3599, token_type: 'Bearer' });

/** Endpoints that reply in this order, and what they were asked. */
function services(replies: Reply[], more: Partial<SignServices> = {}): SignServices & { asked: TokenRequest[] } {
  const asked: TokenRequest[] = [];
  return {
    asked,
    tokens: createTokenCaches(),
    now: () => 1_760_000_000_000,
    fetch: async (request) => {
      asked.push(request);
      const reply = replies.shift();
      if (!reply) throw new Error('asked once too often');
      return { status: reply.status, headers: [], body: Buffer.from(reply.body) };
    },
    ...more,
  };
}

async function signed(
  file: JsonObject | null,
  given: SignServices,
  settings: JsonObject = {},
  key?: string,
  origin = 'https://aiplatform.googleapis.com',
): Promise<OutgoingCall> {
  const credentials = {
    ...(key === undefined ? {} : { api_key: new Secret(key) }),
    ...(file === null ? {} : { vertex_service_account_json: new Secret(JSON.stringify(file)) }),
  };
  const path = '/v1/projects/-/locations/global/publishers/google/models/gemini-3.8-flash:generateContent';
  const call: OutgoingCall = {
    method: 'POST',
    origin,
    path,
    headers: [...vertexAi.headers(settings, credentials)],
    body: null,
  };
  await vertexAi.sign?.(call, settings, credentials, given);
  return call;
}

const form = (request: TokenRequest | undefined) => Object.fromEntries(new URLSearchParams(request?.body ?? ''));

it('vertex-ai signature: matches the published RS256 example', () => {
  expect(rs256(rfc7515.signed, createPrivateKey({ key: rfc7515.key, format: 'jwk' }))).toBe(rfc7515.signature);
});

describe('a service account', () => {
  it('exchanges a signed claim for a token, once, and provides its project', async () => {
    const file = serviceAccount();
    const google = services([grant('ya29.a')]);
    const [first, second] = await Promise.all([signed(file, google), signed(file, google)]);
    expect(google.asked).toHaveLength(1);
    expect(google.asked[0]).toMatchObject({ url: 'https://oauth2.googleapis.com/token', method: 'POST' });
    const { grant_type, assertion = '' } = form(google.asked[0]);
    expect(grant_type).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const [header = '', claims = '', signature = ''] = assertion.split('.');
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'k1' });
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual({
      iss: file.client_email,
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: 'https://oauth2.googleapis.com/token',
      iat: 1_760_000_000,
      exp: 1_760_003_600,
    });
    expect(verify('sha256', Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
    for (const call of [first, second]) {
      expect(call.headers).toEqual(['authorization', 'Bearer ya29.a']);
      expect(call.path).toBe('/v1/projects/acme-prod/locations/global/publishers/google/models/gemini-3.8-flash:generateContent');
    }
  });

  it('requests no token if the settings select a key', async () => {
    const call = await signed(serviceAccount(), services([]), { vertex_auth_type: 'basic' }, 'AIzaKey');
    expect(call.headers).toEqual(['x-goog-api-key', 'AIzaKey']);
  });

  it('replaces all other credentials of the call', async () => {
    const call = await signed(serviceAccount(), services([grant('ya29.b')]), { vertex_auth_type: 'serviceAccount' }, 'AIzaKey');
    expect(call.headers).toEqual(['authorization', 'Bearer ya29.b']);
  });

  it.each<[string, JsonObject | null, RegExp]>([
    ['no file', null, /vertex_service_account_json/],
    ['a file of another kind', { type: 'gdch_service_account' }, /type: .*gdch_service_account/],
    ['a file without a key', { ...serviceAccount(), private_key: undefined }, /private_key/],
    [
      'a key that is not an RSA key',
      serviceAccount({ private_key: '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n' }),
      /private_key: an RSA key/,
    ],
  ])('is rejected before any request, without revealing a secret: %s', async (_, file, message) => {
    const error = await signed(file, services([]), { vertex_auth_type: 'serviceAccount' }).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'invalid_config' });
    expect(String(error)).toMatch(message);
    expect(JSON.stringify([String(error), error])).not.toContain('c2VjcmV0');
  });

  it('returns the message of the token endpoint', async () => {
    const refusal = json({ error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }, 400);
    await expect(signed(serviceAccount(), services([refusal]))).rejects.toMatchObject({
      status: 400,
      message: 'vertex-ai error: the token endpoint replied with 400: invalid_grant: Invalid JWT Signature.',
    });
  });
});

describe('an API key or access token', () => {
  it.each([
    ['AIzaSyExample', ['x-goog-api-key', 'AIzaSyExample']],
    ['AQ.Ab8Example', ['x-goog-api-key', 'AQ.Ab8Example']],
    ['ya29.Example', ['authorization', 'Bearer ya29.Example']],
  ])('%s is sent in its header', async (key, headers) => {
    expect(vertexAi.headers({}, { api_key: new Secret(key) })).toEqual(headers);
  });

  it('needs a project, except for a key of express mode', async () => {
    const express = await signed(null, services([]), {}, 'AIzaSyExample');
    expect(express.path).toBe('/v1/publishers/google/models/gemini-3.8-flash:generateContent');
    await expect(signed(null, services([]), {}, 'ya29.Example')).rejects.toMatchObject({
      code: 'invalid_config',
      param: 'vertex_project_id',
    });
  });
});

describe('workload identity federation', () => {
  it('exchanges the subject token, and the result for a token of a service account', async () => {
    const file = federated(
      {
        url: 'https://idp.example.com/token?audience=x',
        headers: { Authorization: 'Bearer boot' },
        format: { type: 'json', subject_token_field_name: 'id_token' },
      },
      {
        service_account_impersonation_url:
          'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a@b.iam.gserviceaccount.com:generateAccessToken',
        quota_project_id: 'acme-prod',
      },
    );
    const world = services([
      json({ id_token: 'subject' }),
      grant('federated'),
      json({ accessToken: 'ya29.c', expireTime: '2025-10-09T10:00:00Z' }),
    ]);
    const call = await signed(file, world);
    expect(world.asked.map(({ url, method }) => [method, new URL(url).host])).toEqual([
      ['GET', 'idp.example.com'],
      ['POST', 'sts.googleapis.com'],
      ['POST', 'iamcredentials.googleapis.com'],
    ]);
    expect(world.asked[0]?.headers).toEqual(['authorization', 'Bearer boot']);
    expect(world.asked[0]?.metadata).toBeUndefined();
    expect(form(world.asked[1])).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      audience: file.audience,
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      subject_token: 'subject',
    });
    expect(world.asked[2]?.headers).toContain('Bearer federated');
    expect(call.headers).toEqual(['authorization', 'Bearer ya29.c']);
  });

  it.each<[string, JsonObject]>([
    ['another token service', federated({ url: 'https://idp.example.com' }, { token_url: 'https://sts.example.com/v1/token' })],
    [
      'a name that only looks like Google',
      federated({ url: 'https://idp.example.com' }, { token_url: 'https://sts.googleapis.com.example.com/v1/token' }),
    ],
    [
      'a token service in the clear',
      federated({ url: 'https://idp.example.com' }, { token_url: 'http://sts.googleapis.com/v1/token' }),
    ],
    ['a command to run', federated({ executable: { command: '/bin/true' } })],
    ['AWS', federated({ environment_id: 'aws1', url: 'http://169.254.169.254/x' })],
    ['a file anywhere', federated({ file: '/etc/passwd' })],
    ['a file by a way around', federated({ file: '/var/run/secrets/../../../etc/passwd' })],
  ])('rejects %s, even if the machine’s identity is available', async (_, file) => {
    const world = services([json({}), { status: 200, body: 'subject' }], { machineIdentity: true });
    await expect(signed(file, world, { vertex_project_id: 'p' })).rejects.toMatchObject({
      code: expect.stringMatching(/invalid_config/),
    });
    expect(world.asked.some(({ method }) => method === 'POST')).toBe(false);
  });

  it.each<[string, JsonObject]>([
    [
      'metadata service',
      federated(
        { url: 'http://169.254.169.254/metadata/identity/oauth2/token', format: { type: 'json' } },
        { quota_project_id: 'p' },
      ),
    ],
    ['files', federated({ file: '/var/run/secrets/tokens/gcp' }, { quota_project_id: 'p' })],
  ])('uses the machine’s %s only if the deployment allows it', async (_, file) => {
    await expect(signed(file, services([]))).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('keeps a machine token from callers who may not use it', async () => {
    const file = federated({ url: 'http://169.254.169.254/token', format: { type: 'json' } }, { quota_project_id: 'p' });
    const lent = services([json({ access_token: 'subject' }), grant('ya29.d')], { machineIdentity: true });
    expect((await signed(file, lent)).headers).toContain('Bearer ya29.d');
    expect(lent.asked[0]?.metadata).toBe(true);
    await expect(signed(file, services([]))).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('sends machine tokens to Google and trusted hosts only', async () => {
    const file = federated({ url: 'http://169.254.169.254/token', format: { type: 'json' } }, { quota_project_id: 'p' });
    const settings = { vertex_auth_type: 'wif' };
    for (const origin of ['https://collector.example.com', 'https://googleapis.com.example.com', 'http://x.googleapis.com']) {
      const machine = services([], { machineIdentity: true });
      await expect(signed(file, machine, {}, undefined, origin)).rejects.toMatchObject({ code: 'forbidden' });
      await expect(signed(null, machine, settings, undefined, origin)).rejects.toMatchObject({ code: 'forbidden' });
      expect(machine.asked).toEqual([]);
    }
    const corp = 'https://vertex.corp.example';
    const replies = [json({ access_token: 'subject' }), grant('ya29.f')];
    const machine = services(replies, { machineIdentity: true, trusts: (origin) => origin === corp });
    expect((await signed(file, machine, {}, undefined, corp)).headers).toContain('Bearer ya29.f');
  });

  it('uses service account and project of the machine without a credential file', async () => {
    const settings = { vertex_auth_type: 'wif' };
    await expect(signed(null, services([]), settings)).rejects.toMatchObject({ code: 'forbidden' });
    const machine = services([grant('ya29.e'), { status: 200, body: 'machine-project' }], { machineIdentity: true });
    const call = await signed(null, machine, settings);
    expect(call.headers).toEqual(['authorization', 'Bearer ya29.e']);
    expect(call.path).toContain('/projects/machine-project/');
    // Neither is requested again.
    expect((await signed(null, machine, settings)).path).toContain('/projects/machine-project/');
    expect(machine.asked).toHaveLength(2);
    for (const request of machine.asked) {
      expect(request).toMatchObject({ metadata: true, headers: ['metadata-flavor', 'Google'] });
      expect(request.url).toMatch(/^http:\/\/metadata\.google\.internal\/computeMetadata\/v1\//);
    }
    await expect(signed(null, services([]), settings)).rejects.toMatchObject({ code: 'forbidden' });
  });
});

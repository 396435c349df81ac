import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLocalJWKSet, exportJWK, generateKeyPair, type JSONWebKeySet, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { echo, initialize, mcpClient, messageOf } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { type McpUpstream, startMcpUpstream } from '../../support/tool-servers/mcp-upstream.ts';

/** Tokens of another service that callers need in addition to their key, and the identity that servers receive. */
let gateway: SharedGateway;
let client: Awaited<ReturnType<typeof mcpClient>>;
let upstream: McpUpstream;
const pair = await generateKeyPair('RS256');
const other = await generateKeyPair('RS256');
const keySet = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'RS256' }] };
const secret = 'introspection-secret';

/** Publishes the keys, and reports which tokens are active. */
const authority = createServer((request, response) => {
  if (request.url === '/keys') return void response.end(JSON.stringify(keySet));
  if (request.url === '/broken') return void response.writeHead(500).end();
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    const isKnown = request.headers.authorization === `Basic ${Buffer.from(`gateway:${secret}`).toString('base64')}`;
    if (!isKnown) return void response.writeHead(401).end();
    const token = new URLSearchParams(body).get('token');
    response.end(JSON.stringify(token === 'active-token' ? { active: true, sub: 'ada', scope: 'tools' } : { active: false }));
  });
});

beforeAll(async () => {
  authority.listen(0, '127.0.0.1');
  await once(authority, 'listening');
  [gateway, upstream] = await Promise.all([shareGateway(), startMcpUpstream()]);
  client = await mcpClient(gateway);
  const at = `http://127.0.0.1:${(authority.address() as AddressInfo).port}`;
  const add = (slug: string, configurations: JsonObject) => client.addServer(slug, upstream.url, { configurations });
  await add('with-jwks', {
    jwt_validation: {
      jwksUri: `${at}/keys`,
      requiredClaims: ['sub'],
      claimValues: { team: { values: ['tools'] } },
      maxTokenAge: '30m',
    },
    user_identity_forwarding: { method: 'jwt_header' },
  });
  await add('with-introspection', {
    jwt_validation: {
      ...{ introspectEndpoint: `${at}/active`, introspectContentType: 'application/x-www-form-urlencoded' },
      ...{ introspectClientId: 'gateway', introspectClientSecret: secret, headerKey: 'x-person' },
    },
    forward_headers: { mode: 'all-except', headers: [] },
  });
  await add('without-authority', { jwt_validation: { jwksUri: `${at}/broken` } });
  await add('with-claims', {
    user_identity_forwarding: { method: 'claims_header', include_claims: ['sub', 'workspace_id', 'username'] },
    headers: { 'x-user-claims': 'configured' },
    forward_headers: { mode: 'all-except', headers: [] },
  });
  await add('with-bearer', { user_identity_forwarding: { method: 'bearer', jwt_expiry_seconds: 60 } });
});
afterAll(async () => {
  authority.close();
  await upstream?.close();
});

function tokenOf(claims: JWTPayload = {}, key = pair.privateKey): Promise<string> {
  const jwt = new SignJWT({ sub: 'ada', team: 'tools', email: 'ada@example.com', ...claims });
  const issuedAt = (claims.iat as number | undefined) ?? Math.floor(Date.now() / 1000);
  return jwt
    .setProtectedHeader({ alg: 'RS256', kid: 'one' })
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + 600)
    .sign(key);
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const lastHeaders = () => (upstream.received.at(-1) as McpUpstream['received'][number]).headers;

describe('an external token', () => {
  it.each<[string, () => Promise<string> | string | null, string]>([
    ['that is missing', () => null, 'The header authorization is missing'],
    ['that another key signed', () => tokenOf({}, other.privateKey), 'invalid'],
    ['without a signature', () => `${base64({ alg: 'none' })}.${base64({ sub: 'ada', team: 'tools' })}.`, 'invalid'],
    ['that has expired', () => tokenOf({ iat: Math.floor(Date.now() / 1000) - 3_600 }), 'invalid'],
    ['without a required value', () => tokenOf({ team: 'others' }), 'refused'],
    ['that is no token', () => 'made-up', 'invalid'],
  ])('%s is refused, and the server is not called', async (_, token, text) => {
    const count = upstream.received.length;
    const sent = await token();
    const reply = await client.post('with-jwks', initialize, sent === null ? {} : bearer(sent));
    expect([reply.status, JSON.parse(reply.text)]).toEqual([
      401,
      { error: 'unauthorized', error_description: expect.stringContaining(text) },
    ]);
    expect(reply.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
    expect(upstream.received.length).toBe(count);
  });

  it('replaces no key of the gateway', async () => {
    const reply = await client.post('with-jwks', initialize, { ...bearer(await tokenOf()), 'x-svc-api-key': '' });
    expect(reply.status).toBe(401);
  });

  it('is refused with 503 if its keys cannot be read', async () => {
    const reply = await client.post('without-authority', initialize, bearer(await tokenOf()));
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '5']);
  });

  it('is declared active by the introspection endpoint, and is not sent to the server', async () => {
    expect((await client.post('with-introspection', initialize, { 'x-person': 'Bearer inactive-token' })).status).toBe(401);
    const reply = await client.post('with-introspection', initialize, { 'x-person': 'Bearer active-token', 'x-team': 'a' });
    expect(reply.status, reply.text).toBe(200);
    expect(lastHeaders()).toMatchObject({ 'x-team': 'a' });
    expect(JSON.stringify(lastHeaders())).not.toContain('active-token');
  });

  it('names the person to whom a session belongs', async () => {
    const ada = bearer(await tokenOf());
    const begun = await client.post('with-jwks', initialize, ada);
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') as string, 'mcp-protocol-version': '2025-11-25' };
    expect((await client.post('with-jwks', echo('a'), { ...ada, ...session })).status).toBe(200);
    const renewed = bearer(await tokenOf({ iat: Math.floor(Date.now() / 1000) - 5 }));
    expect((await client.post('with-jwks', echo('a'), { ...renewed, ...session })).status).toBe(200);
    const eve = bearer(await tokenOf({ sub: 'eve' }));
    const refused = await client.post('with-jwks', echo('a'), { ...eve, ...session });
    expect([refused.status, messageOf(refused.text).error.code]).toEqual([404, -32001]);
  });
});

describe('the identity of a caller', () => {
  it('is a JWT that the published keys verify, with the claims of the external token', async () => {
    const forged = { workspace_id: 'another', client_id: 'another' };
    await client.post('with-jwks', initialize, bearer(await tokenOf(forged)));
    const published = (await (await fetch(`${gateway.origin}/.well-known/jwks.json`)).json()) as JSONWebKeySet;
    expect(JSON.stringify(published)).not.toMatch(/"d"|privateKey/);
    const token = String(lastHeaders()['x-user-jwt']);
    const verified = await jwtVerify(token, createLocalJWKSet(published), {
      issuer: 'svc-mcp-gateway',
      audience: upstream.url,
      algorithms: ['RS256'],
    });
    const { sub, email, workspace_id, exp, iat } = verified.payload;
    expect([sub, email, workspace_id]).toEqual(['ada', 'ada@example.com', gateway.workspaceId]);
    expect(Number(exp) - Number(iat)).toBe(300);
    await client.post('with-jwks', initialize, bearer(await tokenOf(forged)));
    expect(lastHeaders()['x-user-jwt']).toBe(token);
  });

  it('is a header with claims that neither client nor settings can replace', async () => {
    const { id } = (await gateway.admin.get('/api-keys')).body.data[0];
    expect(id).toEqual(expect.any(String));
    await client.post('with-claims', initialize, { 'x-user-claims': '{"sub":"admin"}', 'x-svc-metadata': '{"team":"a"}' });
    const claims = JSON.parse(String(lastHeaders()['x-user-claims']));
    expect(Object.keys(lastHeaders()).filter((name) => name.startsWith('x-svc-'))).toEqual([]);
    expect(Object.keys(claims)).toEqual(['sub', 'workspace_id']);
    expect(claims.workspace_id).toBe(gateway.workspaceId);
    await client.post('with-bearer', initialize);
    expect(lastHeaders().authorization).toMatch(/^Bearer eyJ/);
  });

  it.each<[string, object, Record<string, string>, Record<string, string | undefined>]>([
    [
      'settings replace the client, fixed ones the configured, identities all of them',
      {
        headers: { 'X-One': 'configured', 'x-two': 'configured', 'x-three': 'configured' },
        passthrough_headers: { 'X-Two': 'fixed', 'x-three': 'fixed' },
        forward_headers: ['x-one', 'X-TWO', 'x-three', 'x-four'],
        user_identity_forwarding: { method: 'claims_header', header_name: 'X-Three', include_claims: ['workspace_id'] },
      },
      { 'X-One': 'client', 'x-two': 'client', 'x-three': 'client', 'X-Four': 'client' },
      { 'x-one': 'configured', 'x-two': 'fixed', 'x-three': expect.stringMatching(/^{"workspace_id":/), 'x-four': 'client' },
    ],
    [
      'all but the named ones pass, and never a credential',
      { forward_headers: { mode: 'all-except', headers: ['X-One'] } },
      {
        ...{ 'x-one': 'client', 'x-two': 'client', cookie: 'a=b', 'api-key': 'k', apikey: 'k', 'x-auth-token': 't' },
        ...{ 'x-access-token': 't', 'x-user-claims': '{}', 'x-user-jwt': 't', 'set-cookie': 'a=b' },
      },
      {
        ...{ 'x-one': undefined, 'x-two': 'client', cookie: undefined, 'api-key': undefined, apikey: undefined },
        ...{ 'x-auth-token': undefined, 'x-access-token': undefined, 'x-user-claims': undefined, 'x-user-jwt': undefined },
        ...{ 'set-cookie': undefined, authorization: undefined, 'x-svc-api-key': undefined },
      },
    ],
    [
      'renaming by an allow-list',
      { forward_headers: { mode: 'allowlist', headers: [{ from: 'X-One', to: 'X-Renamed' }, 'x-two'] } },
      { 'x-one': 'client', 'x-two': 'client', 'x-three': 'client' },
      { 'x-renamed': 'client', 'x-one': undefined, 'x-two': 'client', 'x-three': undefined },
    ],
  ])('obeys the order of headers: %s', async (name, configurations, sent, expected) => {
    const slug = name.split(' ')[0] as string;
    await client.addServer(slug, upstream.url, { configurations });
    expect((await client.post(slug, initialize, sent)).status).toBe(200);
    const headers = lastHeaders();
    expect(Object.fromEntries(Object.keys(expected).map((one) => [one, headers[one]]))).toEqual(expected);
  });
});

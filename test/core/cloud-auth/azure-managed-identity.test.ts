import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { identityToken } from '../../../core/cloud-auth/azure-identity.ts';
import { createSignServices } from '../../../core/compose/sign-services.ts';
import type { IdentityEndpoint, SignServices } from '../../../core/contract/provider/sign-services.ts';
import { Secret } from '../../../core/contract/values/credentials/secret.ts';
import { createTransport } from '../../../core/upstream/transport.ts';

interface Asked {
  url: string;
  headers: IncomingHttpHeaders;
}
type Respond = (response: ServerResponse, asked: Asked) => void;

const nowMs = 1_760_000_000_000;

/** Starts an endpoint on this machine. `servicesOf` opens the gate for it alone. */
async function startEndpoint(respond: Respond) {
  const asked: Asked[] = [];
  const server = createServer(({ url = '', headers }, response) => {
    asked.push({ url, headers });
    respond(response, { url, headers });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const servicesOf = (identityEndpoint: IdentityEndpoint | null, machineIdentity = true): SignServices => {
    const identityOrigin = identityEndpoint === null ? null : new URL(identityEndpoint.url).origin;
    const transport = createTransport({ trusted: [], machineIdentity, identityOrigin });
    onTestFinished(() => transport.close());
    const parseUrl = () => {
      throw new Error('no other address is called');
    };
    return createSignServices({ transport, parseUrl, now: () => nowMs, machineIdentity, identityEndpoint });
  };
  onTestFinished(() => void server.close());
  return { origin, asked, servicesOf };
}

function json(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

const managed = { azure_auth_mode: 'managed' };
const tokenOf = (services: SignServices, settings: object = {}) =>
  identityToken('azure-openai', { ...managed, ...settings }, {}, services);

describe('the identity endpoint of App Service, Functions and Container Apps', () => {
  const header = new Secret('853b9a84-5bfa-4b22');

  it('returns tokens of the named identity, which serve until expires_on', async () => {
    const endMs = nowMs + 7_200_000;
    const { origin, asked, servicesOf } = await startEndpoint((response) =>
      json(response, 200, { access_token: 'app-token', expires_on: String(endMs / 1000), token_type: 'Bearer' }),
    );
    const services = servicesOf({ url: `${origin}/MSI/token/`, header });
    const [token, same] = await Promise.all([
      tokenOf(services, { azure_managed_client_id: 'client-1' }),
      tokenOf(services, { azure_managed_client_id: 'client-1' }),
    ]);
    expect([token.value.reveal(), token.expiresAtMs, same]).toEqual(['app-token', endMs, token]);
    expect(asked.map(({ url, headers }) => [url, headers['x-identity-header'], headers.metadata])).toEqual([
      [
        '/MSI/token/?api-version=2019-08-01&resource=https%3A%2F%2Fcognitiveservices.azure.com&client_id=client-1',
        '853b9a84-5bfa-4b22',
        undefined,
      ],
    ]);
  });

  it('is named by its text if it rejects the request, without the secret', async () => {
    const message = 'No MSI found for specified ClientId/ResourceId.';
    const { origin, servicesOf } = await startEndpoint((response) => json(response, 400, { statusCode: 400, message }));
    await expect(tokenOf(servicesOf({ url: `${origin}/msi/token`, header }))).rejects.toMatchObject({
      code: 'upstream_status',
      status: 400,
      message: `azure-openai error: the token endpoint replied with 400: ${message}`,
    });
  });

  it('is not called by services that may not use the machine identity', async () => {
    const { origin, asked, servicesOf } = await startEndpoint((response) => json(response, 200, {}));
    const services = servicesOf({ url: `${origin}/msi/token`, header }, false);
    expect(services.identityEndpoint).toBeNull();
    const request = { url: `${origin}/msi/token`, method: 'GET' as const, headers: [], body: null, metadata: true };
    await expect(services.fetch(request)).rejects.toMatchObject({ code: 'forbidden' });
    expect(asked).toEqual([]);
  });
});

describe('the identity endpoint of Azure Arc', () => {
  /** An agent that requires the content of the key file, and its services. */
  async function startAgent(given: { name?: string; key?: string; realm?: (path: string) => string } = {}) {
    const { name = 'a1.key', key = 'arc-key', realm = (path) => `Basic realm=${path}` } = given;
    const keyFolder = mkdtempSync(join(tmpdir(), 'svc-arc-'));
    onTestFinished(() => rmSync(keyFolder, { recursive: true }));
    const path = join(keyFolder, name);
    writeFileSync(path, key);
    const endpoint = await startEndpoint((response, { headers }) => {
      if (headers.authorization === `Basic ${key}`) json(response, 200, { access_token: 'arc-token', expires_in: '3600' });
      else json(response, 401, {}, { 'www-authenticate': realm(path) });
    });
    const services = endpoint.servicesOf({ url: `${endpoint.origin}/metadata/identity/oauth2/token`, keyFolder });
    return { ...endpoint, services, keyFolder };
  }

  it('returns a token to the second request, which has the content of the key file', async () => {
    const { services, asked } = await startAgent();
    expect((await tokenOf(services)).value.reveal()).toBe('arc-token');
    const url = '/metadata/identity/oauth2/token?api-version=2019-11-01&resource=https%3A%2F%2Fcognitiveservices.azure.com';
    expect(asked.map((request) => [request.url, request.headers.metadata, request.headers.authorization])).toEqual([
      [url, 'true', undefined],
      [url, 'true', 'Basic arc-key'],
    ]);
  });

  it.each([
    ['a file of another folder', { realm: () => 'Basic realm=/etc/a1.key' }],
    ['a path that leaves the folder', { realm: (path: string) => `Basic realm=${path.replace('a1.key', '../x/a1.key')}` }],
    ['a file of another name', { name: 'a1.pem' }],
    ['another scheme', { realm: (path: string) => `Bearer realm=${path}` }],
    ['a file of more than 4096 bytes', { key: 'k'.repeat(4097) }],
    ['an empty file', { key: '' }],
    ['a file that does not exist', { realm: (path: string) => `Basic realm=${path.replace('a1.key', 'a2.key')}` }],
  ])('receives no content of %s', async (_, given) => {
    const { services, asked } = await startAgent(given);
    await expect(tokenOf(services)).rejects.toMatchObject({ code: 'unavailable', message: /^azure-openai error: the / });
    expect(asked.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  it('has no user-assigned identities', async () => {
    const { services, asked } = await startAgent();
    await expect(async () => tokenOf(services, { azure_managed_client_id: 'client-1' })).rejects.toMatchObject({
      code: 'invalid_config',
      param: 'azure_managed_client_id',
    });
    expect(asked).toEqual([]);
  });
});

describe('the gate of the identity endpoint', () => {
  const request = { method: 'GET' as const, headers: [], body: null, metadata: true };

  it('opens no other origin of the same machine', async () => {
    const other = await startEndpoint((response) => json(response, 200, {}));
    const { origin, servicesOf } = await startEndpoint((response) => json(response, 200, {}));
    const services = servicesOf({ url: `${origin}/msi/token`, header: new Secret('h') });
    for (const url of [other.origin, origin.replace('127.0.0.1', 'localhost'), 'http://127.0.0.1']) {
      await expect(services.fetch({ ...request, url: `${url}/msi/token` }), url).rejects.toMatchObject({ code: 'forbidden' });
    }
    expect(other.asked).toEqual([]);
  });

  it('opens the endpoint to the metadata tenant only', async () => {
    const { origin, asked } = await startEndpoint((response) => json(response, 200, {}));
    const transport = createTransport({ trusted: [], machineIdentity: true, identityOrigin: origin });
    onTestFinished(() => transport.close());
    const error = await new Promise((resolve) => {
      const timeouts = { connectMs: 0, firstByteMs: 0, idleMs: 0, totalMs: 0 };
      const call = { tenant: 'tenant-a', origin, path: '/msi/token', method: 'GET', headers: [], body: null, timeouts };
      transport.send(call, { onHead: resolve, onData: () => true, onEnd: () => {}, onError: resolve });
    });
    expect(error).toMatchObject({ code: 'invalid_custom_host' });
    expect(asked).toEqual([]);
  });

  it('stays closed if the name of the endpoint resolves to a public address', async () => {
    const transport = createTransport({
      trusted: [],
      machineIdentity: true,
      identityOrigin: 'http://localhost:1',
      resolve: (_name, callback) => setImmediate(() => callback(null, [{ address: '8.8.8.8', family: 4 }])),
    });
    onTestFinished(() => transport.close());
    const url = 'http://localhost:1/msi/token';
    const services = createSignServices({
      ...{ transport, now: () => nowMs, machineIdentity: true, identityEndpoint: { url, header: new Secret('h') } },
      parseUrl: () => ({ origin: '', path: '' }),
    });
    await expect(services.fetch({ ...request, url })).rejects.toMatchObject({ code: 'invalid_custom_host' });
  });
});

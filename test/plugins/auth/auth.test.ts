import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ApiKeyDocument } from '../../../core/contract/protocol/documents.ts';
import { digestSecret, newApiKey, parseApiKey } from '../../../core/contract/values/credentials/api-key.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { createHarness } from '../../../core/test-kit/pipeline-harness.ts';

const pepper = new Uint8Array(32).fill(7);
/** The harness sends its key as x-svc-api-key by default. */
const withoutOwn = { 'x-svc-api-key': undefined as never };

describe('the API key of a request', () => {
  it.each([
    ['x-svc-api-key', (key: string) => ({ 'x-svc-api-key': key })],
    ['Authorization', (key: string) => ({ ...withoutOwn, authorization: `Bearer ${key}` })],
    ['x-api-key', (key: string) => ({ ...withoutOwn, 'x-api-key': key })],
    ['x-goog-api-key', (key: string) => ({ ...withoutOwn, 'x-goog-api-key': key })],
    ['api-key', (key: string) => ({ ...withoutOwn, 'api-key': key })],
    ['an alias of the prefix', (key: string) => ({ ...withoutOwn, 'x-other-api-key': key })],
  ])('comes from %s and is not forwarded', async (_name, headersOf) => {
    const gateway = createHarness();
    const reply = await gateway.send({
      headers: { ...headersOf(gateway.key), 'x-svc-provider': '@one' },
      body: { model: 'gpt-5', messages: [] },
    });
    expect(reply.status).toBe(200);
    expect(gateway.calls[0]?.headers.join('\n')).not.toContain(gateway.key);
  });

  it.each([
    ['POST', '/v1/v1beta/models/gemini-3-pro:generateContent'],
    ['GET', '/v1/proxy/v1beta/models'],
  ])('comes from x-goog-api-key on native routes of Google: %s %s', async (method, path) => {
    const gateway = createHarness({ providers: { goo: 'google' } });
    const sent = { ...withoutOwn, 'x-svc-provider': '@goo', 'x-goog-api-key': gateway.key };
    const body = method === 'GET' ? '' : { contents: [] };
    expect((await gateway.send({ method, path, headers: sent, body })).status).toBe(200);
    const { headers = [] } = gateway.calls[0] ?? {};
    expect(headers.filter((_, i) => headers[i - 1] === 'x-goog-api-key')).toEqual(['sk-stored']);
    expect(headers.join('\n')).not.toContain(gateway.key);
  });

  it.each([
    ['a key of the provider', () => ({ 'x-goog-api-key': 'AIzaOfTheClient' }), 401],
    [
      'a key of the gateway beside a token of the provider',
      (key: string) => ({ 'x-goog-api-key': key, authorization: 'Bearer ya29.x' }),
      200,
    ],
    ['a key of the gateway beside an invalid one', (key: string) => ({ 'x-goog-api-key': key, 'x-api-key': 'svc_no' }), 401],
    ['a key of the gateway in api-key beside it', (key: string) => ({ 'x-goog-api-key': 'AIza', 'api-key': key }), 200],
    ['a key of Azure in api-key', () => ({ 'api-key': 'key-of-azure' }), 401],
  ])('is looked for in x-goog-api-key: %s', async (_title, headersOf, status) => {
    const gateway = createHarness();
    const headers = { ...withoutOwn, 'x-svc-provider': '@one', ...headersOf(gateway.key) };
    expect((await gateway.send({ method: 'GET', path: '/v1/other', headers, body: '' })).status).toBe(status);
    expect(gateway.calls.flatMap((call) => call.headers).join('\n')).not.toContain(gateway.key);
  });

  it.each([
    ...['x-svc-api-key', 'x-api-key', 'x-goog-api-key', 'api-key'].map((name) => [
      { [name]: 'wrong' },
      'keys of this gateway begin',
    ]),
    ...['x-svc-api-key', 'x-api-key', 'x-goog-api-key', 'api-key'].map((name) => [
      { [name]: 'sk-12345678' },
      'looks like a provider key',
    ]),
    [{ authorization: 'Bearer wrong' }, 'keys of this gateway begin'],
    [{ authorization: 'Basic d3Jvbmc=' }, 'authorization is not Bearer <key>'],
    [{}, 'no key was sent'],
  ] as [Record<string, string>, string][])('the error for %j says %s', async (sent, text) => {
    const gateway = createHarness();
    const reply = await gateway.send({ headers: { ...withoutOwn, 'x-svc-provider': '@one', ...sent } });
    expect([reply.status, reply.json]).toMatchObject([401, { error: { message: expect.stringContaining(text) } }]);
  });

  it('has the same error if it does not exist and if its secret is wrong', async () => {
    const gateway = createHarness();
    const { id } = parseApiKey(gateway.key) ?? expect.fail('the key of the harness is malformed');
    const { text } = newApiKey('ws', id);
    for (const key of [newApiKey('ws').text, text]) {
      const { status, json } = await gateway.send({ headers: { 'x-svc-api-key': key, 'x-svc-provider': '@one' } });
      expect([status, json]).toMatchObject([
        401,
        { error: { message: expect.stringContaining('this service has no such key') } },
      ]);
    }
  });

  it('leaves x-goog-api-key to the provider if the gateway key came in another header, but not to a stored one', async () => {
    const gateway = createHarness();
    const goog = { 'x-goog-api-key': 'AIzaOfTheClient' };
    const ask = (headers: object) =>
      gateway.send({ method: 'GET', path: '/v1/other', headers: { ...goog, ...headers }, body: '' });
    await ask({ 'x-svc-provider': 'google' });
    expect(gateway.calls.at(-1)?.headers).toContain('AIzaOfTheClient');
    await ask({ 'x-svc-provider': '@one' });
    expect(gateway.calls.at(-1)?.headers).not.toContain('AIzaOfTheClient');
  });

  it('leaves Authorization to the provider if the gateway key came in its own header', async () => {
    const gateway = createHarness();
    await gateway.send({
      headers: { 'x-svc-provider': 'openai', authorization: 'Bearer sk-mine' },
      body: { model: 'gpt-5', messages: [] },
    });
    expect(gateway.calls[0]?.headers).toContain('Bearer sk-mine');
  });
});

describe('API keys', () => {
  it('are rejected for one wrong character before any look-up', async () => {
    const gateway = createHarness();
    const wrong = gateway.key.slice(0, 20) + (gateway.key[20] === 'a' ? 'b' : 'a') + gateway.key.slice(21);
    expect(parseApiKey(wrong)).toBeNull();
    expect((await gateway.send({ headers: { 'x-svc-api-key': wrong } })).status).toBe(401);
  });

  it('with a known id and a wrong secret are rejected', async () => {
    const gateway = createHarness();
    const parsed = parseApiKey(gateway.key);
    const other = newApiKey('ws');
    const document = gateway.documents.get(`api-key ${parsed?.id}`) as ApiKeyDocument;
    gateway.documents.set(`api-key ${other.id}`, { ...document, id: other.id });
    expect((await gateway.send({ headers: { 'x-svc-api-key': other.text } })).status).toBe(401);
  });

  it('follow changes of their document at once', async () => {
    const gateway = createHarness();
    expect((await gateway.send({})).status).toBe(200);
    const id = `api-key ${parseApiKey(gateway.key)?.id}`;
    gateway.documents.set(id, { ...(gateway.documents.get(id) as ApiKeyDocument), scopes: [] });
    expect((await gateway.send({})).status).toBe(403);
    gateway.documents.delete(id);
    expect((await gateway.send({})).status).toBe(401);
  });

  it('cannot call models if they belong to the organisation', async () => {
    const admin = newApiKey('admin');
    const gateway = createHarness();
    gateway.documents.set(`api-key ${admin.id}`, {
      ...(gateway.documents.get(`api-key ${parseApiKey(gateway.key)?.id}`) as ApiKeyDocument),
      id: admin.id,
      keyId: randomUUID(),
      digest: digestSecret(pepper, admin.secret),
      type: 'organisation-service',
      workspaceId: null,
    });
    const reply = await gateway.send({ headers: { 'x-svc-api-key': admin.text } });
    expect(reply.status).toBe(403);
    expect(reply.text).toContain('workspace API key');
    const misspelt = await gateway.send({ method: 'GET', path: '/v1/integratoins', headers: { 'x-svc-api-key': admin.text } });
    expect([misspelt.status, misspelt.text]).toEqual([404, expect.stringContaining('Did you mean /v1/integrations?')]);
  });

  it('keep their old secret through a rotation, until its transition ends', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    const gateway = createHarness({ now: () => now });
    const parsed = parseApiKey(gateway.key);
    const id = `api-key ${parsed?.id}`;
    const document = gateway.documents.get(id) as ApiKeyDocument;
    gateway.documents.set(id, {
      ...document,
      digest: digestSecret(pepper, newApiKey('ws').secret),
      previousDigest: document.digest,
      previousExpiresAt: '2026-01-01T01:00:00Z',
    });
    expect((await gateway.send({})).status).toBe(200);
    now = Date.parse('2026-01-01T01:00:01Z');
    expect((await gateway.send({})).status).toBe(401);
  });

  it('with an overdue rotation end, and work again after a rotation', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    const gateway = createHarness({ now: () => now });
    const id = `api-key ${parseApiKey(gateway.key)?.id}`;
    const document = gateway.documents.get(id) as ApiKeyDocument;
    gateway.documents.set(id, { ...document, secretExpiresAt: '2026-01-01T01:00:00Z' });
    expect((await gateway.send({})).status).toBe(200);
    now = Date.parse('2026-01-01T01:00:00Z');
    const late = await gateway.send({});
    expect(late.status).toBe(401);
    expect(late.text).toContain('expired');
    const fresh = newApiKey('ws', document.id);
    const digest = digestSecret(pepper, fresh.secret);
    gateway.documents.set(id, { ...document, digest, secretExpiresAt: '2026-01-08T01:00:00Z' });
    expect((await gateway.send({ headers: { 'x-svc-api-key': fresh.text } })).status).toBe(200);
  });

  it.each([
    ['its end', { expiresAt: '2026-01-01T00:00:00Z' }],
    ['the end of its secret', { secretExpiresAt: '2026-01-01T00:00:00Z' }],
    ['its status', { status: 'expired' }],
  ] as const)('have expired by %s: the error differs from that of an unknown key', async (_name, fields) => {
    const gateway = createHarness({ now: () => Date.parse('2026-01-01T00:00:00Z'), key: fields });
    const reply = await gateway.send({});
    const error = { code: 'api_key_expired', message: expect.stringContaining('change its expires_at, or use another key') };
    expect([reply.status, reply.json]).toMatchObject([401, { error }]);
  });

  it('with repeated failures from one address are blocked, and valid ones in memory are not', async () => {
    const gateway = createHarness({ now: () => 0 });
    for (let i = 0; i < 60; i++) await gateway.send({ headers: { 'x-svc-api-key': 'svc_ws_bad' } });
    const unknown = newApiKey('ws').text;
    const get = gateway.documents.get.bind(gateway.documents);
    gateway.documents.get = ((id: string) =>
      id.includes(parseApiKey(unknown)?.id as string) ? Promise.resolve(null) : get(id)) as never;
    const held = await gateway.send({ headers: { 'x-svc-api-key': unknown } });
    expect(held.status).toBe(429);
    expect((await gateway.send({})).status).toBe(200);
  });
});

describe('a key without a document while the control plane is away', () => {
  it('gets 503 after the look-up', async () => {
    const gateway = createHarness();
    expect((await gateway.send({})).status).toBe(200);
    // Each look-up fails separately: one without a handler fails the test as an unhandled rejection.
    gateway.documents.get = () => Promise.reject(new GatewayError('unavailable'));
    expect((await gateway.send({})).status).toBe(503);
  });

  it('with guesses from many addresses is blocked, except for verified callers', async () => {
    const gateway = createHarness({ now: () => 0 });
    expect((await gateway.send({})).status).toBe(200);
    const own = parseApiKey(gateway.key);
    for (let i = 0; i < 60; i++) {
      const guess = newApiKey('ws', own?.id).text;
      expect((await gateway.send({ headers: { 'x-svc-api-key': guess }, remoteAddress: `10.0.0.${i}` })).status).toBe(401);
    }
    const next = await gateway.send({ headers: { 'x-svc-api-key': newApiKey('ws', own?.id).text }, remoteAddress: '10.0.1.1' });
    expect(next.status).toBe(429);
    expect((await gateway.send({})).status).toBe(200);
  });
});

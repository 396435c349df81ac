import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../core/contract/values/json/json.ts';
import { type SharedGatewayWithUpstream, shareGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';
import { type KeySetHost, newSigningKey, signToken, startKeySetHost } from '../support/samples/tokens.ts';
import { until } from '../support/until.ts';

/** JWTs that an organisation signs, with the whole product and a host that publishes its keys over HTTPS. */
const tls = join(import.meta.dirname, '../support/tls');
const key = newSigningKey();
let gateway: SharedGatewayWithUpstream;
let host: KeySetHost;
let organisationId: string;
let workspaceSlug: string;

beforeAll(async () => {
  host = await startKeySetHost({ cert: readFileSync(join(tls, 'cert.pem')), key: readFileSync(join(tls, 'key.pem')) });
  gateway = await shareGatewayWithUpstream('configured');
  organisationId = (await gateway.admin.get('/organisations/self')).body.data.id;
  workspaceSlug = (await gateway.admin.get(`/admin/workspaces/${gateway.workspaceId}`)).body.slug;
});
afterAll(async () => {
  await gateway?.close();
  await host?.close();
});

const setTokens = async (jwt: JsonObject | null) => {
  const reply = await gateway.admin.put('/organisations/self/auth-settings', { jwt });
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
};

let round = 0;
/** A separate path for each test, because the gateway caches the keys of earlier tests. */
let path = '';
beforeEach(async () => {
  path = `/jwks/${++round}`;
  host.sets.set(path, { keys: [key.jwk] });
  host.failWith = null;
  await setTokens({ jwks_url: `${host.origin}${path}` });
});

const sign = (claims: JsonObject = {}, by = key, header: JsonObject = {}) =>
  signToken(by, { svc_oid: organisationId, svc_workspace: workspaceSlug, scope: 'completions.write', ...claims }, header);

function clientWith(apiKey: string, headers: Record<string, string> = {}): OpenAI {
  return new OpenAI({ baseURL: gateway.baseUrl, apiKey, maxRetries: 0, defaultHeaders: headers });
}

const chat = (apiKey: string, headers: Record<string, string> = {}) =>
  clientWith(apiKey, headers).chat.completions.create({ model: '@oai/m', messages: [{ role: 'user', content: 'hello' }] });

/** Status of a call, and its error code. */
async function outcome(apiKey: string, headers: Record<string, string> = {}): Promise<[number, string | null]> {
  try {
    await chat(apiKey, headers);
    return [200, null];
  } catch (error) {
    if (error instanceof OpenAI.APIError) return [error.status as number, error.code ?? null];
    throw error;
  }
}
const becomes = (apiKey: string, status: number) =>
  until(async () => (await outcome(apiKey))[0] === status, { what: `status ${status}` });

const invite = async (email: string, workspaces: JsonObject[]) => {
  const made = await gateway.admin.post('/users', { email, role: 'member', workspaces });
  expect(made.status, JSON.stringify(made.body)).toBe(200);
  return String(made.body.id);
};

/** Audit entries about tokens, or another resource, newest first. */
async function trail(resource = 'jwt'): Promise<JsonObject[]> {
  const from = new Date(Date.now() - 600_000).toISOString();
  const to = new Date(Date.now() + 60_000).toISOString();
  return (await gateway.admin.get(`/audit-logs?start_time=${from}&end_time=${to}&resource_type=${resource}`)).body.records;
}

describe('a JWT as apiKey of the OpenAI SDK', () => {
  it('calls models, plain and streamed; its record has the subject, and it is not forwarded', async () => {
    const token = sign({ sub: 'machine 7', defaults: { metadata: { team: 'core' } } });
    const { data, response } = await clientWith(token)
      .chat.completions.create({ model: '@oai/m', messages: [{ role: 'user', content: 'hello' }] })
      .withResponse();
    expect(data.choices[0]?.message.content).toBeTruthy();
    let text = '';
    const stream = await clientWith(token).chat.completions.create({
      model: '@oai/m',
      stream: true,
      messages: [{ role: 'user', content: 'hello' }],
    });
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toBeTruthy();
    const log = await gateway.logOf(String(response.headers.get('x-svc-trace-id')));
    expect(log).toMatchObject({ organisation_id: organisationId, token_subject: 'machine 7', metrics: { user_id: null } });
    expect(log.metrics['metadata.key']).toContain('team');
    expect(JSON.stringify(log) + JSON.stringify(gateway.upstream.requests) + gateway.output()).not.toContain(token.slice(0, 60));
    expect(host.asked.filter((one) => one === path)).toHaveLength(1);
  });

  it('uses the config that it names by slug or id, follows its changes, and is rejected once it is gone', async () => {
    const config = (model: string) => ({ provider: '@oai', override_params: { model } });
    const own = { workspace_id: workspaceSlug };
    const made = await gateway.admin.post('/configs', {
      ...own,
      name: 'of tokens',
      slug: 'pc-of-tokens',
      config: config('first'),
    });
    const tokens = ['pc-of-tokens', made.body.data.id].map((config_id) => sign({ defaults: { config_id } }));
    const models = async () => {
      const sent: unknown[] = [];
      for (const token of tokens) {
        await chat(token);
        sent.push(JSON.parse(gateway.upstream.requests.at(-1)?.body.toString() ?? '').model);
      }
      return sent;
    };
    expect(await models()).toEqual(['first', 'first']);
    await gateway.admin.put(`/configs/pc-of-tokens?workspace_id=${workspaceSlug}`, { config: config('second') });
    await until(async () => (await models()).every((model) => model === 'second'), { what: 'the change' });
    await gateway.admin.delete(`/configs/pc-of-tokens?workspace_id=${workspaceSlug}`);
    for (const token of tokens) await becomes(token, 400);
    expect(await outcome(sign({ defaults: { config_id: 'pc-nowhere' } }))).toEqual([400, 'invalid_config']);
  });

  it('is rejected with the status and code of its reason, and accepted within the clock tolerance', async () => {
    const now = Math.floor(Date.now() / 1000);
    expect(await outcome(sign({}, newSigningKey(key.kid)))).toEqual([401, '03']);
    expect(await outcome(sign({}, newSigningKey('unknown')))).toEqual([401, '03']);
    expect(await outcome(sign({ exp: now - 60 }))).toEqual([401, '01']);
    expect(await outcome(sign({ exp: now - 2 }))).toEqual([200, null]);
    expect(await outcome(sign({}, key, { kid: undefined }))).toEqual([401, '03']);
    expect(await outcome(sign({ scope: 'logs.read' }))).toEqual([403, '033']);
    expect(await outcome(sign({ svc_workspace: 'ws-nowhere' }))).toEqual([403, '033']);
    expect(await outcome(sign({ svc_oid: '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0fff' }))).toEqual([403, '033']);
    // A published key that is too short to be accepted.
    const short = newSigningKey('short', 1024);
    host.sets.set(`${path}/short`, { keys: [short.jwk, key.jwk] });
    await setTokens({ jwks_url: `${host.origin}${path}/short` });
    expect(await outcome(sign({}, short))).toEqual([401, '03']);
    expect((await outcome(sign()))[0]).toBe(200);
    expect(host.asked).toContain(`${path}/short`);
    await setTokens(null);
    await becomes(sign(), 403);
  });

  it('may use the next key after a rotation; earlier ones stay valid until the settings replace the key set', async () => {
    const next = newSigningKey();
    const old = sign();
    // The gateway reads this address when the notice of the settings of this test arrives.
    await until(async () => (await outcome(old))[0] === 200 && host.asked.includes(path), { what: 'keys of this test' });
    host.sets.set(path, { keys: [next.jwk] });
    expect((await outcome(sign({}, next)))[0]).toBe(200);
    expect((await outcome(old))[0]).toBe(200);
    await setTokens({ jwks: { keys: [next.jwk] } });
    await becomes(old, 401);
    expect((await outcome(sign({}, next)))[0]).toBe(200);
  });

  it('is 503 while its keys cannot be read, and works when they can; verified ones stay valid', async () => {
    host.failWith = 302;
    // The gateway applies the settings of this test when their notice arrives.
    await becomes(sign(), 503);
    expect(host.asked).not.toContain('/elsewhere');
    host.failWith = null;
    await until(async () => (await outcome(sign()))[0] === 200, { what: 'keys again' });
    host.failWith = 500;
    expect((await outcome(sign()))[0]).toBe(200);
  });

  it('is limited by its own claims, each JWT separately', async () => {
    const rate_limits = [{ type: 'requests', unit: 'rpd', value: 2 }];
    const [one, other] = [sign({ rate_limits }), sign({ rate_limits })];
    expect((await outcome(one))[0]).toBe(200);
    expect((await outcome(one))[0]).toBe(200);
    expect(await outcome(one)).toEqual([429, '05']);
    expect((await outcome(other))[0]).toBe(200);
    const used = sign({ usage_limits: [{ id: 'b', type: 'tokens', credit_limit: 5, status: 'exhausted' }] });
    expect(await outcome(used)).toEqual([412, '04']);
    const few = sign({ usage_limits: [{ id: 'b', type: 'tokens', credit_limit: 1 }] });
    expect(await outcome(few)).toEqual([412, '04']);
  });

  it('is limited by its workspace', async () => {
    const made = await gateway.admin.post('/workspaces', {
      name: 'Limited',
      slug: 'ws-limited',
      rate_limits: [{ type: 'requests', unit: 'rpd', value: 1 }],
    });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    const ask = async () => {
      const token = sign({ svc_workspace: 'ws-limited' });
      return clientWith(token, { 'x-svc-provider': 'openai', 'x-svc-custom-host': gateway.upstream.openaiHost })
        .chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hello' }] })
        .then(
          () => 200,
          (error: InstanceType<typeof OpenAI.APIError>) => error.status,
        );
    };
    await ask();
    expect(await ask()).toBe(429);
  });
});

it('a JWT can store files of the service, and cannot start a batch that would outlive it', async () => {
  const client = clientWith(sign());
  const line = { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body: { model: '@oai/m', messages: [] } };
  const file = await client.files.create({ purpose: 'batch', file: new File([JSON.stringify(line)], 'in.jsonl') });
  const batch = { input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' } as const;
  await expect(client.batches.create(batch)).rejects.toMatchObject({ status: 403 });
});

describe('the JWT of a user', () => {
  it('has their role in their workspaces, selects one with x-svc-workspace, and ends with them', async () => {
    const second = await gateway.admin.post('/workspaces', { name: 'Second', slug: 'ws-second' });
    const third = await gateway.admin.post('/workspaces', { name: 'Third', slug: 'ws-third' });
    expect([second.status, third.status]).toEqual([200, 200]);
    const email = 'token-user@example.com';
    const id = await invite(email, [
      { id: gateway.workspaceId, role: 'member' },
      { id: second.body.id, role: 'viewer' },
    ]);
    const token = sign({ email_id: email.toUpperCase(), sub: 'other@example.com' });
    const { response } = await clientWith(token)
      .chat.completions.create({ model: '@oai/m', messages: [{ role: 'user', content: 'hello' }] })
      .withResponse();
    const log = await gateway.logOf(String(response.headers.get('x-svc-trace-id')));
    expect(log).toMatchObject({ metrics: { user_id: id }, token_subject: email.toUpperCase() });
    // A viewer calls no models; the third workspace has no members.
    expect(await outcome(token, { 'x-svc-workspace': 'ws-second' })).toEqual([403, '033']);
    expect(await outcome(token, { 'x-svc-workspace': 'ws-third' })).toEqual([403, '033']);
    expect((await outcome(token, { 'x-svc-workspace': gateway.workspaceId }))[0]).toBe(200);

    const settings = { settings: { user_key_metadata: 1 } };
    expect((await gateway.admin.put(`/workspaces/${gateway.workspaceId}`, settings)).status).toBe(200);
    await until(
      async () => {
        const { response } = await clientWith(token)
          .chat.completions.create({ model: '@oai/m', user: 'somebody else', messages: [{ role: 'user', content: 'hello' }] })
          .withResponse();
        const { metrics } = await gateway.logOf(String(response.headers.get('x-svc-trace-id')));
        return metrics['metadata.value'][metrics['metadata.key'].indexOf('_user')] === email;
      },
      { what: 'the name of the user in _user' },
    );

    const path = `/workspaces/${gateway.workspaceId}/users/${id}`;
    await gateway.admin.put(path, { role: 'viewer' });
    await becomes(token, 403);
    await gateway.admin.put(path, { role: 'manager' });
    await becomes(token, 200);
    // Without a user, a token has only the rights that it claims. Deleting the membership removes the user.
    await gateway.admin.delete(path);
    await becomes(token, 403);
  });
});

describe('a JWT in the admin API', () => {
  const ask = async (token: string, method: string, url: string, body?: JsonObject, headers: Record<string, string> = {}) => {
    const reply = await fetch(`${gateway.baseUrl}${url}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    // biome-ignore lint/suspicious/noExplicitAny: replies of several routes
    return { status: reply.status, body: (await reply.json()) as any };
  };

  it('acts as a key of its workspace, with its claimed scopes only', async () => {
    const token = sign({
      sub: 'deployer',
      scope: 'svc.configs.create configs.list organisation_settings.read workspaces.create audit_logs.list',
    });
    const made = await ask(token, 'POST', '/configs', { name: 'By token', config: { provider: '@oai' } });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    expect((await trail('configs'))[0]).toMatchObject({
      action: 'create',
      request_headers: expect.stringContaining('"jwt-subject":"deployer"'),
    });
    expect((await ask(token, 'GET', '/configs')).status).toBe(200);
    expect((await ask(token, 'GET', '/providers')).status).toBe(403);
    expect((await ask(token, 'GET', '/organisations/self')).status).toBe(403);
    expect((await ask(token, 'POST', '/workspaces', { name: 'x' })).status).toBe(403);
    const other = await gateway.admin.post('/workspaces', { name: 'Other', slug: 'ws-other' });
    expect((await ask(token, 'GET', `/configs?workspace_id=${other.body.id}`)).status).toBe(403);
    const direct = await fetch(`${gateway.controlPlaneUrl}/v1/configs`, { headers: { 'x-svc-api-key': token } });
    expect(direct.status).toBe(200);
  });

  it('cannot create a key, which would outlive it', async () => {
    const scope = 'workspace_service_api_keys.create workspace_service_api_keys.list completions.write';
    const body = { name: 'k', scopes: ['completions.write'], workspace_id: gateway.workspaceId };
    expect((await ask(sign({ scope }), 'POST', '/api-keys/workspace/service', body)).status).toBe(403);
  });

  it('is limited to the role of its user, who can select a workspace', async () => {
    const path = await gateway.admin.post('/workspaces', { name: 'Managed', slug: 'ws-managed' });
    const workspaces = [
      { id: gateway.workspaceId, role: 'viewer' },
      { id: path.body.id, role: 'manager' },
    ];
    await invite('admin-token@example.com', workspaces);
    const token = sign({ sub: 'admin-token@example.com', scope: 'configs.create configs.list' });
    const body = { name: 'C', config: { provider: 'openai' } };
    expect((await ask(token, 'GET', '/configs')).status).toBe(200);
    expect((await ask(token, 'POST', '/configs', body)).status).toBe(403);
    expect((await ask(token, 'POST', '/configs', body, { 'x-svc-workspace': 'ws-managed' })).status).toBe(200);
    expect((await ask(token, 'GET', '/configs', undefined, { 'x-svc-workspace': 'ws-nowhere' })).status).toBe(403);
  });

  it('can read its own subject and rights', async () => {
    const path = await gateway.admin.post('/workspaces', { name: 'Told', slug: 'ws-told' });
    const id = await invite('told@example.com', [{ id: path.body.id, role: 'member' }]);
    const self = (apiKey: string) => fetch(`${gateway.baseUrl}/auth/self`, { headers: { 'x-svc-api-key': apiKey } });
    const machine = await self(sign({ sub: 'a machine', scope: 'configs.list logs.export' }));
    expect(machine.status).toBe(200);
    expect(await machine.json()).toEqual({
      user: null,
      organisation: { id: organisationId, name: expect.any(String) },
      workspaces: [
        {
          id: gateway.workspaceId,
          slug: workspaceSlug,
          name: expect.any(String),
          role: null,
          scopes: ['configs.list', 'logs.export'],
        },
      ],
      has_password: null,
      scopes: [],
      session: null,
      object: 'self',
    });
    const person = await self(sign({ email_id: 'told@example.com', svc_workspace: 'ws-told', scope: 'configs.list' }));
    expect(await person.json()).toMatchObject({
      user: { id, email: 'told@example.com' },
      workspaces: [{ id: path.body.id, role: 'member', scopes: ['configs.list'] }],
    });
    expect((await self(gateway.adminKey)).status).toBe(403);
    expect((await self(gateway.workspaceKey)).status).toBe(403);
  });

  it('is rejected if invalid, with audit entries: few for a flood', async () => {
    const forged = sign({ sub: 'mallory' }, newSigningKey(key.kid), { typ: 'logout+jwt' });
    const before = (await trail()).length;
    for (let i = 0; i < 20; i++) {
      expect((await ask(forged, 'GET', '/configs')).status).toBe(401);
      expect((await outcome(forged))[0]).toBe(401);
    }
    const entry = await until(async () => (await trail()).find((one) => JSON.stringify(one).includes('mallory')), {
      what: 'an entry about the token',
      deadlineMs: 10_000,
    });
    expect(entry).toMatchObject({ response_status_code: 401, action: 'authenticate', client_ip: '127.0.0.1' });
    expect(JSON.stringify(await trail())).not.toContain(forged.slice(0, 60));
    expect((await trail()).length - before).toBeLessThan(5);
    const expired = sign({ exp: 1 });
    expect((await ask(expired, 'GET', '/configs')).body.data.errorCode).toBe('AB05');
  });

  it('cannot be checked over the internal path from outside', async () => {
    const check = { token: sign(), workspace: null, clientAddress: 'a', method: 'GET', path: '/', requestId: 'r' };
    const reply = await fetch(`${gateway.origin}/internal/v1/token-checks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(check),
    });
    expect(reply.status).toBe(404);
  });
});

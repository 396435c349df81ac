import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createClientSecrets } from '../../../core/realtime/client-secrets.ts';
import { fakeRequest } from '../../../core/test-kit/fake-exchange.ts';
import { openSession } from '../../support/clients/session-client.ts';
import { type RealtimeGateway, shareRealtimeGateway } from '../../support/product/realtime-gateway.ts';
import { until } from '../../support/until.ts';

let realtime: RealtimeGateway;
let openai: OpenAI;
beforeAll(async () => {
  realtime = await shareRealtimeGateway();
  openai = clientOf(realtime.gateway.workspaceKey);
});
afterAll(() => realtime?.close());

const model = '@oai/gpt-realtime';
const session = { type: 'realtime', model, instructions: 'Be brief.' } as const;

function clientOf(apiKey: string): OpenAI {
  return new OpenAI({ apiKey, baseURL: `http://127.0.0.1:${realtime.gateway.port}/v1`, maxRetries: 0 });
}

/** Opens a session as a browser does, which cannot set headers. */
async function openWith(secret: string, path = '/realtime') {
  const client = await openSession(realtime.at(path), {}, ['realtime', `openai-insecure-api-key.${secret}`]);
  return { client, session: await realtime.provider.nextSession() };
}

function refusalWith(secret: string, path = '/realtime') {
  return realtime.refusal(path, { authorization: `Bearer ${secret}` });
}

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const reply = await fetch(`http://127.0.0.1:${realtime.gateway.port}/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-svc-api-key': realtime.gateway.workspaceKey, ...headers },
    body: JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: replies are looked into freely; what is asserted is the check
  return { status: reply.status, body: (await reply.json()) as any };
}

const parsed = (messages: readonly (string | Buffer)[]) => messages.map((message) => JSON.parse(String(message)) as JsonObject);

describe('a client secret of the gateway', () => {
  it('is created by the official client and opens a session with its model and settings, which is recorded for the key', async () => {
    const before = realtime.provider.handshakes.length;
    const created = await openai.realtime.clientSecrets.create({ session });
    expect(created.value).toMatch(/^ek_svc_[\w-]+$/);
    expect(created.expires_at - Date.now() / 1000).toBeGreaterThan(590);
    expect(created.expires_at - Date.now() / 1000).toBeLessThanOrEqual(600);
    expect(created.session).toMatchObject({ object: 'realtime.session', ...session });
    expect(realtime.provider.handshakes).toHaveLength(before);
    const { client, session: opened } = await openWith(created.value);
    client.socket.send('{"type":"response.create"}');
    await until(() => opened.messages.length === 2);
    expect(parsed(opened.messages)).toEqual([
      { type: 'session.update', session: { type: 'realtime', instructions: 'Be brief.' } },
      { type: 'response.create' },
    ]);
    expect(opened.handshake.path).toBe('/v1/realtime?model=gpt-realtime');
    expect(opened.handshake.headers.authorization).toBe('Bearer sk-stored');
    expect(JSON.stringify(opened.handshake)).not.toContain('svc_');
    const usage = { input_tokens: 3, output_tokens: 4 };
    opened.socket.send(JSON.stringify({ type: 'response.done', response: { usage } }));
    await client.received(1);
    client.socket.close(1000);
    const log = await realtime.logOf(client);
    expect(log).toMatchObject({ outcome: 'success', metrics: { mode: 'realtime', ai_model: 'gpt-realtime', req_units: 3 } });
  });

  it('opens several sessions, in a header too, and sends no message if it has no settings', async () => {
    const { value } = await openai.realtime.clientSecrets.create({ session: { type: 'realtime', model } });
    for (const [name, text] of [
      ['authorization', `Bearer ${value}`],
      ['x-svc-api-key', value],
      ['api-key', value],
    ] as const) {
      const client = await openSession(realtime.at('/realtime'), { [name]: text });
      const opened = await realtime.provider.nextSession();
      client.socket.send('first');
      await until(() => opened.messages.length > 0);
      expect(opened.messages).toEqual(['first']);
      client.socket.terminate();
    }
  });

  it('keeps config, metadata and trace of its creation, whatever its holder sends', async () => {
    const slug = await realtime.gateway.admin.createConfig({ provider: '@oai', override_params: { model: 'gpt-realtime-mini' } });
    const created = await post(
      '/realtime/client_secrets',
      { session: { type: 'realtime', model: 'gpt-realtime' } },
      { 'x-svc-config': slug, 'x-svc-metadata': '{"app":"voice"}', 'x-svc-trace-id': 'creation-1', 'openai-project': 'proj-1' },
    );
    expect(created.status).toBe(200);
    const client = await openSession(
      realtime.at('/realtime?model=@oai/expensive&call_id=rtc_1&intent=transcription'),
      {
        ...{
          authorization: `Bearer ${created.body.value}`,
          'x-svc-config': '{"provider":"@other"}',
          'x-svc-metadata': '{"app":"mine"}',
        },
        ...{ 'x-svc-trace-id': 'mine', 'x-svc-provider': '@other', 'openai-organization': 'org-mine', 'x-other': 'mine' },
      },
      ['realtime', 'openai-project.proj-mine'],
    );
    const { handshake } = await realtime.provider.nextSession();
    expect(handshake.path).toBe('/v1/realtime?model=gpt-realtime-mini');
    expect(handshake.protocols).toEqual(['realtime']);
    expect(JSON.stringify(handshake)).not.toContain('mine"');
    expect(handshake.headers['openai-project']).toBe('proj-1');
    expect(client.headers['x-svc-trace-id']).toBe('creation-1');
    client.socket.close(1000);
    const logs = await until(async () => {
      const reply = await realtime.gateway.admin.get('/logs?trace_id=creation-1');
      // biome-ignore lint/suspicious/noExplicitAny: replies are looked into freely
      const ended = reply.body.data.find((log: any) => log.metrics.mode === 'realtime' && log.outcome !== 'open');
      return ended && reply.body.data;
    });
    expect(logs).toHaveLength(2);
    for (const log of logs) expect(JSON.stringify(log)).toContain('"voice"');
  });

  it('does not explain the route to its holder if its creator asked for that', async () => {
    const { body } = await post('/realtime/client_secrets', { session }, { 'x-svc-debug-route': 'true' });
    const { client } = await openWith(body.value);
    expect(client.headers).not.toHaveProperty('x-svc-debug-route');
    client.socket.terminate();
  });

  it('opens nothing but a WebSocket at /v1/realtime', async () => {
    const { value } = await openai.realtime.clientSecrets.create({ session });
    const holder = clientOf(value);
    const before = realtime.provider.handshakes.length;
    const attempts = [
      () => holder.chat.completions.create({ model: '@oai/gpt-5', messages: [] }),
      () => holder.models.list(),
      () => holder.realtime.clientSecrets.create({ session }),
      () => holder.get('/realtime'),
      () => holder.post('/realtime/calls', { body: 'v=0' }),
      () => holder.get('/logs'),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ status: 401 });
    for (const path of ['/responses?model=@oai/gpt-5', '/proxy/realtime?model=gpt-realtime', '/anything']) {
      expect((await refusalWith(value, path)).status).toBe(401);
    }
    expect(realtime.provider.handshakes).toHaveLength(before);
  });

  it('is 401 if it is forged, changed or cut, with a text that does not repeat it', async () => {
    const { value } = await openai.realtime.clientSecrets.create({ session });
    const changed = value.slice(0, -6) + (value.endsWith('AAAAAA') ? 'BBBBBB' : 'AAAAAA');
    for (const secret of [changed, value.slice(0, 40), 'ek_svc_', `${value}.${value}`]) {
      const refused = await refusalWith(secret);
      expect(refused.status).toBe(401);
      expect(refused.json.error.message).toContain('POST /v1/realtime/client_secrets');
      expect(refused.body).not.toContain(secret.slice(8) || '§');
    }
  });

  it('ends its session when the key is deleted, and opens no other', async () => {
    const { key, id } = await realtime.gateway.admin.createKey({ scopes: ['completions.write'] });
    const { value } = await clientOf(key).realtime.clientSecrets.create({ session });
    const { client } = await openWith(value);
    await realtime.gateway.admin.delete(`/api-keys/${id}`);
    expect((await client.closed).code).toBe(1008);
    expect((await refusalWith(value)).status).toBe(401);
  });

  it('works for a key with a budget, which ends the session', async () => {
    const { key } = await realtime.gateway.admin.createKey({ usage_limits: { type: 'tokens', credit_limit: 100_000 } });
    const { value } = await clientOf(key).realtime.clientSecrets.create({ session: { type: 'realtime', model } });
    const { client, session: opened } = await openWith(value);
    const usage = { input_tokens: 200_000, output_tokens: 1 };
    opened.socket.send(JSON.stringify({ type: 'response.done', response: { usage } }));
    expect((await client.closed).code).toBe(1008);
    await until(async () => (await realtime.refusal('/realtime', { authorization: `Bearer ${value}` })).status === 412);
  });

  it('does not open a session whose settings a guardrail denies', async () => {
    const slug = await realtime.gateway.admin.createConfig({
      input_guardrails: [{ 'default.contains': { words: ['brief'], operator: 'none' }, id: 'g', deny: true }],
    });
    const { body } = await post('/realtime/client_secrets', { session }, { 'x-svc-config': slug });
    const { client, session: opened } = await openWith(body.value);
    expect((await client.closed).code).toBe(1008);
    expect(opened.messages).toEqual([]);
    expect(parsed(client.messages)).toMatchObject([{ type: 'error', error: { type: 'hooks_failed' } }]);
    expect(await realtime.logOf(client)).toMatchObject({ outcome: 'cut', error: { code: 'request_denied' } });
  });

  it('shows neither itself nor its settings in the record of its creation', async () => {
    const { body } = await post('/realtime/client_secrets', { session }, { 'x-svc-trace-id': 'creation-2' });
    const log = await until(async () => (await realtime.gateway.admin.get('/logs?trace_id=creation-2')).body.data[0]);
    const whole = await realtime.gateway.admin.get(`/logs/${log._id}`);
    expect(whole.status).toBe(200);
    expect(JSON.stringify(whole.body)).not.toContain(body.value.slice(8, 40));
    expect(JSON.stringify(whole.body)).not.toContain('Be brief.');
  });
});

describe('sealed client secrets', () => {
  const key = Buffer.alloc(32, 1);
  const sealed = { headers: ['x-svc-api-key', 'k'], query: 'model=m', firstMessage: null, expiresAtMs: 10_000 };
  const handshake = (secret: string) => fakeRequest({ method: 'GET', headers: { authorization: `Bearer ${secret}` } }, '');

  it('open in every gateway with the same CLUSTER_KEY until they expire', () => {
    let nowMs = 9_999;
    const secret = createClientSecrets(key, { now: () => 0 }).seal(sealed);
    const other = createClientSecrets(key, { now: () => nowMs });
    expect(other.open(handshake(secret))?.request).toMatchObject({ headers: sealed.headers, query: 'model=m' });
    nowMs = 10_000;
    expect(other.open(handshake(secret))).toBe(null);
    expect(createClientSecrets(Buffer.alloc(32, 2), { now: () => 0 }).open(handshake(secret))).toBe(null);
  });

  it('hold no part of what they seal in plain text, and are never the same', () => {
    const secrets = createClientSecrets(key, { now: () => 0 });
    const [one, two] = [secrets.seal(sealed), secrets.seal(sealed)];
    expect(one).not.toBe(two);
    expect(Buffer.from(one.slice('ek_svc_'.length), 'base64url').toString('latin1')).not.toContain('api-key');
  });
});

describe('the creation of a client secret', () => {
  it('also has the older names and forms', async () => {
    const older = await post('/realtime/sessions', { model, modalities: ['text'] });
    expect(older.body).toMatchObject({ object: 'realtime.session', model, modalities: ['text'], client_secret: {} });
    const { client, session: opened } = await openWith(older.body.client_secret.value);
    await until(() => opened.messages.length === 1);
    expect(parsed(opened.messages)).toEqual([{ type: 'session.update', session: { modalities: ['text'] } }]);
    client.socket.terminate();
    const transcription = await post(
      '/realtime/transcription_sessions',
      { input_audio_transcription: { model: 'gpt-4o-transcribe' }, client_secret: { expires_after: { seconds: 60 } } },
      { 'x-svc-provider': '@oai' },
    );
    expect(transcription.body.client_secret.expires_at - Date.now() / 1000).toBeLessThanOrEqual(60);
    const second = await openWith(transcription.body.client_secret.value);
    await until(() => second.session.messages.length === 1);
    expect(second.session.handshake.path).toBe('/v1/realtime?intent=transcription');
    expect(parsed(second.session.messages)).toEqual([
      { type: 'transcription_session.update', session: { input_audio_transcription: { model: 'gpt-4o-transcribe' } } },
    ]);
    second.client.socket.terminate();
  });

  it('returns the error that its config or provider would cause', async () => {
    const missing = await post('/realtime/client_secrets', { session: { type: 'realtime', model: 'gpt-realtime' } });
    expect(missing).toMatchObject({ status: 400, body: { error: { code: 'missing_provider' } } });
    const unknown = await post('/realtime/client_secrets', { session }, { 'x-svc-config': 'no-such-config' });
    expect(unknown).toMatchObject({ status: 400, body: { error: { code: 'invalid_config' } } });
  });

  it.each([
    ['no model', { session: { type: 'realtime' } }, 'session.model'],
    ['no session', {}, 'session.model'],
    ['half of a surrogate pair in the model', { session: { ...session, model: '@oai/\ud800' } }, 'session.model'],
    ['a short life', { session, expires_after: { anchor: 'created_at', seconds: 9 } }, 'expires_after.seconds'],
    ['a long life', { session, expires_after: { anchor: 'created_at', seconds: 7201 } }, 'expires_after.seconds'],
    ['another anchor', { session, expires_after: { anchor: 'used_at', seconds: 60 } }, 'expires_after.anchor'],
    ['a list', { session: [] }, 'session'],
    ['a misspelling', { session, expire_after: {} }, 'expire_after'],
    ['long settings', { session: { ...session, instructions: 'x'.repeat(40_000) } }, 'session'],
  ])('is 400 with %s', async (_case, body, param) => {
    const { status, body: refused } = await post('/realtime/client_secrets', body);
    expect(status).toBe(400);
    expect(refused.error.param).toBe(param);
  });

  it('leaves credentials of tools out of its reply, and sends them to the provider', async () => {
    const tool = {
      type: 'mcp',
      server_label: 'm',
      server_url: 'https://u:tool-password@mcp.example',
      authorization: 'tool-token',
    };
    const { body } = await post('/realtime/client_secrets', { session: { ...session, tools: [tool] } });
    expect(JSON.stringify(body)).not.toContain('tool-token');
    expect(body.session.tools).toEqual([{ type: 'mcp', server_label: 'm', server_url: 'https://u:***@mcp.example' }]);
    const { client, session: opened } = await openWith(body.value);
    await until(() => opened.messages.length === 1);
    expect(parsed(opened.messages)).toMatchObject([{ session: { tools: [tool] } }]);
    client.socket.terminate();
  });

  it('gives a secret that opens a session as a subprotocol, also with the longest settings', async () => {
    const long = { ...session, instructions: 'x'.repeat(23_000) };
    const { value } = await openai.realtime.clientSecrets.create({ session: long });
    expect(value.length).toBeGreaterThan(30_000);
    const { client, session: opened } = await openWith(value);
    await until(() => opened.messages.length === 1);
    client.socket.terminate();
  });
});

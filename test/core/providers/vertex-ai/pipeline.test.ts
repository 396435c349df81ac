import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findHeader } from '../../../../core/contract/values/http/http.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import {
  createHarness,
  type Harness,
  providerDocument,
  replyWith,
  type Script,
  workspaceId,
} from '../../../../core/test-kit/pipeline-harness.ts';
import { repliesOfEvents } from '../assemble-reply.ts';
import { eventsOfText } from '../event-stream-text.ts';
import { fixturesOf } from '../provider-fixtures.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const { calls: cases } = fixturesOf('vertex-ai');
const fixture = (name: string) => cases.find((one) => one.name === name) as (typeof cases)[number];
const token = (value: string) => replyWith(200, { access_token: value, token_type: 'Bearer', expires_in: 3599 });
const stream = (name: string): Script => {
  const text = readFileSync(join(import.meta.dirname, 'fixtures', `${name}.chunks.txt`), 'utf8');
  return (_call, handler) => {
    handler.onHead(200, ['content-type', 'text/event-stream']);
    // Cut inside an event.
    for (let at = 0; at < text.length; at += 77) handler.onData(Buffer.from(text.slice(at, at + 77)));
    handler.onEnd();
  };
};

function accountFile(): string {
  return JSON.stringify({
    type: 'service_account',
    project_id: 'acme-prod',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: `${randomUUID()}@acme-prod.iam.gserviceaccount.com`,
  });
}

function store(gateway: Harness, settings: JsonObject, secrets: JsonObject): void {
  gateway.documents.set(`provider ${workspaceId}/cloud`, {
    ...providerDocument('cloud', 'vertex-ai'),
    settings,
    secrets: JSON.stringify(secrets),
  });
}

describe('a stored Vertex AI provider', () => {
  const settings = { vertex_auth_type: 'serviceAccount', vertex_region: 'europe-west4' };
  const body = (name: string, more: JsonObject = {}) => {
    const { request } = fixture(name);
    return { ...request, model: `@cloud/${String(request.model)}`, ...more };
  };

  it.each([
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'hi' }] }],
    ['/v1/messages', { max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }],
    ['/v1/responses', { input: 'hi' }],
  ])('labels calls of Gemini to %s with the metadata of the request only', async (path, params) => {
    const gateway = createHarness();
    store(gateway, settings, { vertex_service_account_json: accountFile() });
    gateway.script(token('ya29.one'), replyWith(200, fixture('a-gemini-text').providerReply));
    const metadata = JSON.stringify({ Team: 'Blue.Whales', long: 'x'.repeat(100), kept: 'ours' });
    const ask = async (model: string, more: JsonObject, headers: Record<string, string>) => {
      await gateway.send({ path, headers, body: { model: `@cloud/${model}`, ...params, ...more } });
      return JSON.parse(Buffer.from(gateway.calls.at(-1)?.body as Uint8Array).toString()).labels;
    };
    const own = { labels: { svc_gateway_kept: 'theirs' } };
    expect(await ask('gemini-3.8-flash', own, { 'x-svc-metadata': metadata })).toEqual({
      svc_gateway_team: 'blue_whales',
      svc_gateway_long: 'x'.repeat(63),
      svc_gateway_kept: 'theirs',
    });
    expect(await ask('gemini-3.8-flash', {}, {})).toBeUndefined();
    expect(await ask('anthropic.claude-sonnet-4-5@20250929', {}, { 'x-svc-metadata': metadata })).toBeUndefined();
  });

  it('serves plain and streamed calls with one token, in its project and region', async () => {
    const gateway = createHarness();
    store(gateway, settings, { vertex_service_account_json: accountFile() });
    const { providerReply, reply, providerRequest } = fixture('chat-gemini-tool');
    gateway.script(token('ya29.one'), replyWith(200, providerReply), stream('chat-gemini-tool'));
    const plain = await gateway.send({ body: body('chat-gemini-tool') });
    const streamed = await gateway.send({ body: body('chat-gemini-tool', { stream: true }) });
    expect(plain.json).toMatchObject({ choices: reply.choices, usage: reply.usage });
    expect(repliesOfEvents('chatComplete', eventsOfText(streamed.text))[0]?.toolCalls).toEqual([
      { name: 'get_weather', arguments: { city: 'Bern' } },
    ]);
    expect(streamed.text.endsWith('data: [DONE]\n\n')).toBe(true);
    const [asked, first, second] = gateway.calls;
    expect(gateway.calls).toHaveLength(3);
    expect(`${asked?.origin}${asked?.path}`).toBe('https://oauth2.googleapis.com/token');
    const path = '/v1/projects/acme-prod/locations/europe-west4/publishers/google/models/gemini-3.8-flash';
    expect([first?.path, second?.path]).toEqual([`${path}:generateContent`, `${path}:streamGenerateContent?alt=sse`]);
    for (const call of [first, second]) {
      expect(call?.origin).toBe('https://europe-west4-aiplatform.googleapis.com');
      expect(call?.headers).toContain('Bearer ya29.one');
      expect(JSON.parse(Buffer.from(call?.body as Uint8Array).toString())).toEqual(providerRequest);
    }
    expect(gateway.records.map(({ status, inputTokens, outputTokens }) => [status, inputTokens, outputTokens])).toEqual([
      [200, 30, 48],
      [200, 30, 48],
    ]);
  });

  it.each(['messages-claude', 'messages-gemini'])('serves Messages calls, %s', async (name) => {
    const gateway = createHarness();
    store(gateway, settings, { vertex_service_account_json: accountFile() });
    const { providerReply, reply } = fixture(name);
    gateway.script(token('ya29.two'), replyWith(200, providerReply), stream(name));
    const plain = await gateway.send({ path: '/v1/messages', body: body(name), headers: { 'anthropic-beta': 'b-1' } });
    expect(plain.json).toMatchObject({ content: reply.content, stop_reason: reply.stop_reason, usage: reply.usage });
    const streamed = await gateway.send({ path: '/v1/messages', body: body(name, { stream: true }) });
    expect(repliesOfEvents('messages', eventsOfText(streamed.text))[0]).toMatchObject({ finish: reply.stop_reason });
    const ofClaude = name === 'messages-claude';
    expect(findHeader(gateway.calls[1]?.headers ?? [], 'anthropic-beta')).toBe(ofClaude ? 'b-1' : undefined);
    expect(gateway.calls.map(({ path }) => path).filter((path) => path.includes('tream'))).toHaveLength(1);
  });

  it.each([
    [
      'claude-code-20250219,advanced-tool-use-2025-11-20,fast-mode-2026-02-01',
      'claude-code-20250219,tool-search-tool-2025-10-19',
    ],
    ['mcp-client-2025-11-20, files-api-2025-04-14', undefined],
  ])('sends of the beta features %s those that Claude has there: %s', async (sent, expected) => {
    const gateway = createHarness();
    store(gateway, settings, { vertex_service_account_json: accountFile() });
    gateway.script(
      token('ya29.betas'),
      replyWith(200, fixture('messages-claude').providerReply),
      replyWith(200, { input_tokens: 3 }),
    );
    for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
      const reply = await gateway.send({ path, body: body('messages-claude'), headers: { 'anthropic-beta': sent } });
      expect(findHeader(gateway.calls.at(-1)?.headers ?? [], 'anthropic-beta')).toBe(expected);
      expect(reply.header('x-svc-dropped-params')).toContain('anthropic-beta:');
    }
  });

  it('puts pass-through calls into its project and region, with its token and without the client’s', async () => {
    const gateway = createHarness();
    store(gateway, settings, { vertex_service_account_json: accountFile() });
    gateway.script(token('ya29.three'), replyWith(200, {}));
    await gateway.send({
      method: 'GET',
      path: '/v1/proxy/publishers/google/models/gemini-3.8-flash?view=full',
      headers: { 'x-svc-provider': '@cloud', 'x-goog-api-key': 'AIzaOfTheClient' },
    });
    const call = gateway.calls[1];
    expect(call?.path).toBe('/v1/projects/acme-prod/locations/europe-west4/publishers/google/models/gemini-3.8-flash?view=full');
    expect(call?.headers).toContain('Bearer ya29.three');
    expect(call?.headers).not.toContain('AIzaOfTheClient');
  });

  it('returns the error of the token endpoint, and a fallback continues', async () => {
    const gateway = createHarness();
    store(gateway, settings, { vertex_service_account_json: accountFile() });
    gateway.addConfig('pc-two', { strategy: { mode: 'fallback' }, targets: [{ provider: '@cloud' }, { provider: '@one' }] });
    const refusal = replyWith(401, { error: 'invalid_client' });
    gateway.script(refusal, replyWith(200, { choices: [], model: 'gpt-5' }));
    const alone = await gateway.send({ body: body('a-gemini-text') });
    expect(alone.status).toBe(401);
    expect(alone.text).toContain('vertex-ai error: the token endpoint replied with 401: invalid_client');
    gateway.script(refusal, replyWith(200, { choices: [], model: 'gpt-5' }));
    const second = await gateway.send({
      headers: { 'x-svc-config': 'pc-two' },
      body: { model: 'gpt-5', messages: [{ role: 'user', content: 'x' }] },
    });
    expect([second.status, second.json.model]).toEqual([200, 'gpt-5']);
  });

  it('uses the machine’s identity only if the deployment allows it, and only for stored providers', async () => {
    const wif = { vertex_auth_type: 'wif', vertex_project_id: 'acme-prod' };
    const closed = createHarness();
    store(closed, wif, {});
    expect((await closed.send({ body: body('a-gemini-text') })).status).toBe(403);
    expect(closed.calls).toEqual([]);
    const open = createHarness({ machineIdentity: true });
    store(open, wif, {});
    open.script(token('ya29.machine'), replyWith(200, fixture('a-gemini-text').providerReply));
    expect((await open.send({ body: body('a-gemini-text') })).status).toBe(200);
    const headers = { 'x-svc-provider': 'vertex-ai', 'x-svc-vertex-auth-type': 'wif', 'x-svc-vertex-project-id': 'acme-prod' };
    const brought = await open.send({ headers, body: { ...fixture('a-gemini-text').request } });
    expect(brought.status).toBe(403);
    expect(open.calls).toHaveLength(2);
  });
});

it('accepts a credential file in a request header', async () => {
  const gateway = createHarness();
  gateway.script(token('ya29.header'), replyWith(200, fixture('a-gemini-text').providerReply));
  const reply = await gateway.send({
    headers: { 'x-svc-provider': 'vertex-ai', 'x-svc-vertex-region': 'us', 'x-svc-vertex-service-account-json': accountFile() },
    body: fixture('a-gemini-text').request as JsonObject,
  });
  expect(reply.status).toBe(200);
  expect(gateway.calls[1]?.origin).toBe('https://aiplatform.us.rep.googleapis.com');
  expect(reply.header('x-svc-dropped-params')).toBe('service_tier');
});

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../core/contract/values/json/json.ts';
import { type SharedGatewayWithUpstream, shareGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';
import { until } from '../support/until.ts';

/** Saved guardrails and defaults through two gateway processes, seen through the OpenAI client. */
let gateway: SharedGatewayWithUpstream;
beforeAll(async () => {
  gateway = await shareGatewayWithUpstream('pair');
});
afterAll(() => gateway?.close());

const checksFor = (word: string) => [{ id: 'default.contains', parameters: { words: [word], operator: 'none' } }];
const model = 'gpt-4o-mini';

/** Saves a guardrail that denies a word. `workspace_id` undefined: of the organisation. */
async function save(word: string, more: JsonObject = {}): Promise<{ slug: string; id: string; version_id: string }> {
  const body = {
    name: `No ${word}`,
    workspace_id: gateway.workspaceId,
    checks: checksFor(word),
    actions: { deny: true },
    ...more,
  };
  const made = await gateway.admin.post('/guardrails', body);
  expect(made.status, JSON.stringify(made.body)).toBe(200);
  return made.body as never;
}

function client(apiKey: string): OpenAI {
  return new OpenAI({ baseURL: gateway.baseUrl, apiKey, maxRetries: 0 });
}

/** Status of a chat completion with this text, and the ids of the guardrails of the request. */
async function ask(openai: OpenAI, content: string): Promise<{ status: number; ids: string[] }> {
  const idsOf = (body: unknown) =>
    ((body as { hook_results?: { before_request_hooks: { id: string }[] } }).hook_results?.before_request_hooks ?? []).map(
      ({ id }) => id,
    );
  try {
    const call = openai.chat.completions.create({ model, messages: [{ role: 'user', content }] });
    const { data, response } = await call.withResponse();
    return { status: response.status, ids: idsOf(data) };
  } catch (thrown) {
    if (!(thrown instanceof OpenAI.APIError)) throw thrown;
    return { status: thrown.status ?? 0, ids: [] };
  }
}

/** Waits until both processes reply like this, on twenty connections in a row. */
async function settles(openai: () => OpenAI, content: string, status: number): Promise<void> {
  const all = async () => {
    const asked = await Promise.all(Array.from({ length: 20 }, () => ask(openai(), content)));
    return asked.every((one) => one.status === status);
  };
  await until(all, { what: `status ${status} for "${content}"` });
}

it('a saved guardrail works in a saved config, changes while gateways run, and can be used in an old version', async () => {
  const guardrail = await save('tiger');
  const key = await gateway.keyFor({ provider: '@oai', input_guardrails: [guardrail.slug] });
  expect(await ask(client(key), 'a tiger')).toMatchObject({ status: 446 });
  expect(await ask(client(key), 'a lion')).toEqual({ status: 200, ids: [guardrail.slug] });
  const changed = await gateway.admin.put(`/guardrails/${guardrail.slug}`, { checks: checksFor('lion') });
  expect(changed.status).toBe(200);
  await settles(() => client(key), 'a lion', 446);
  await settles(() => client(key), 'a tiger', 200);
  const pinned = { id: guardrail.slug, guardrail_version_id: guardrail.version_id };
  const old = await gateway.keyFor({ provider: '@oai', input_guardrails: [pinned] });
  expect(await ask(client(old), 'a tiger')).toMatchObject({ status: 446 });
  expect(await ask(client(old), 'a lion')).toMatchObject({ status: 200 });
});

it('a test runs unsaved checks and saved guardrails with their secrets', async () => {
  const received: (string | undefined)[] = [];
  const service = createServer((request, response) => {
    received.push(request.headers.authorization);
    response.end('{"verdict":true}');
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  const webhookURL = `http://127.0.0.1:${(service.address() as AddressInfo).port}/hook`;
  const test = (body: JsonObject) => gateway.admin.post('/guardrails/test', { workspace_id: gateway.workspaceId, ...body });
  const unsaved = await test({ checks: checksFor('tiger'), actions: { deny: true }, text: 'a tiger' });
  expect(unsaved).toMatchObject({ status: 200, body: { verdict: false, denied: true, transformed: false, text: 'a tiger' } });
  const checks = [{ id: 'default.webhook', parameters: { webhookURL, headers: { authorization: 'Bearer s3cret-of-the-hook' } } }];
  const { slug } = await save('hook', { checks });
  const saved = await test({ guardrail: slug, text: 'hello', side: 'output' });
  expect(saved).toMatchObject({ status: 200, body: { verdict: true, results: [{ id: slug, verdict: true }] } });
  expect(received).toEqual(['Bearer s3cret-of-the-hook']);
  expect(JSON.stringify(saved)).not.toContain('s3cret');
  expect(await test({ guardrail: 'pg-none', text: '' })).toMatchObject({ status: 404, body: { data: { errorCode: 'AB02' } } });
  const wrong = await test({ checks: [{ id: 'default.notNull' }], text: '' });
  expect(wrong).toMatchObject({ status: 400, body: { data: { errorCode: 'AB01' } } });
  const direct = await gateway.call('/guardrails/invoke', { method: 'POST', body: { guardrails: [slug], text: 'hello' } });
  expect(await direct.json()).toMatchObject({ object: 'guardrail.invocation', verdict: true });
  service.close();
});

it('a check of a partner uses the credentials of the organisation', async () => {
  const received: (string | undefined)[] = [];
  const partner = createServer((request, response) => {
    received.push(request.headers['lasso-api-key'] as string | undefined);
    response.end('{"violations_detected":false,"deputies":{},"findings":{}}');
  });
  await new Promise<void>((resolve) => partner.listen(0, '127.0.0.1', resolve));
  const apiEndpoint = `http://127.0.0.1:${(partner.address() as AddressInfo).port}`;
  const credentials = { apiKey: 'key-of-the-partner-1', apiEndpoint };
  const plugin = await gateway.admin.post('/plugins', { plugin_provider_id: 'lasso', credentials });
  expect(plugin.status, JSON.stringify(plugin.body)).toBe(200);
  const { slug } = await save('partner', { checks: [{ id: 'lasso.classify', parameters: { failOnError: true } }] });
  const key = await gateway.keyFor({ provider: '@oai', input_guardrails: [slug] });
  expect(await ask(client(key), 'hello')).toEqual({ status: 200, ids: [slug] });
  const rotated = { ...credentials, apiKey: 'key-of-the-partner-2' };
  expect((await gateway.admin.put('/plugins/lasso', { credentials: rotated })).status).toBe(200);
  await until(
    async () => {
      await ask(client(key), 'hello');
      return received.at(-1) === 'key-of-the-partner-2';
    },
    { what: 'the new credentials' },
  );
  expect(received[0]).toBe('key-of-the-partner-1');
  partner.close();
});

it('an unknown guardrail of an inline config is an error, and works as soon as it is saved', async () => {
  const config = (id: string) => JSON.stringify({ provider: '@oai', input_guardrails: [id] });
  const send = (id: string) =>
    gateway.call('/chat/completions', {
      method: 'POST',
      headers: { 'x-svc-config': config(id) },
      body: { model, messages: [{ role: 'user', content: 'a zebra' }] },
    });
  const refused = await send('pg-none');
  expect(refused.status).toBe(400);
  expect(JSON.stringify(await refused.json())).toContain('Following guardrails are not valid: pg-none');
  expect((await send((await save('zebra')).slug)).status).toBe(446);
});

it('defaults of the organisation run for every request of a workspace, until it is excluded', async () => {
  const { slug, id } = await save('bear', { workspace_id: undefined });
  const put = async (path: string, body: JsonObject) => expect((await gateway.admin.put(path, body)).body, path).toEqual({});
  const headers = { 'x-svc-provider': '@oai' };
  const own = { baseURL: gateway.baseUrl, apiKey: gateway.workspaceKey, maxRetries: 0, defaultHeaders: headers };
  const openai = () => new OpenAI(own);
  await settles(openai, 'a bear', 200);
  await put('/admin/organisation/defaults', { input_guardrails: [slug], output_guardrails: [id] });
  await settles(openai, 'a bear', 446);
  // Neither a list in the config nor weaker actions remove it.
  for (const entry of [
    { id: slug, deny: false },
    { id: slug, async: true },
  ]) {
    const key = await gateway.keyFor({ provider: '@oai', input_guardrails: [entry] });
    expect(await ask(client(key), 'a bear')).toMatchObject({ status: 446 });
  }
  const stream = openai().chat.completions.create({ model, messages: [{ role: 'user', content: 'a bear' }], stream: true });
  await expect(stream).rejects.toMatchObject({ status: 446 });
  const embedding = openai().embeddings.create({ model: 'text-embedding-3-small', input: 'a bear' });
  await expect(embedding).rejects.toMatchObject({ status: 446 });
  const excluded = (side: string, value: boolean) =>
    put(`/workspace-exclusions/${side}-guardrails`, {
      workspaces: [{ workspace_id: gateway.workspaceId, excluded: value }],
    });
  await excluded('input', true);
  // The response repeats the text, so the guardrail of responses still denies it.
  await settles(openai, 'a bear', 446);
  await excluded('output', true);
  await settles(openai, 'a bear', 200);
  await put('/admin/organisation/defaults', { input_guardrails: [], output_guardrails: [] });
  await excluded('input', false);
  await excluded('output', false);
});

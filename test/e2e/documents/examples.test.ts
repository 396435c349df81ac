import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { type SharedGatewayWithUpstream, shareGatewayWithUpstream } from '../../support/product/gateway-with-upstream.ts';
import { openaiError, stallBeforeHead } from '../../support/upstream/fake-upstream.ts';

/** Every example config is saved through the admin API and used as the README beside it says. */
const folder = join(import.meta.dirname, '../../../config/examples');
const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
/** It holds a credential, which saved configs may not. */
const inlineOnly = 'inline-provider-key.json';
const slugs = new Map<string, string>();

let gateway: SharedGatewayWithUpstream;
beforeAll(async () => {
  gateway = await shareGatewayWithUpstream();
  const { admin, upstream } = gateway;
  await admin.createUpstream('openai-prod', upstream.openaiHost);
  await admin.createUpstream('anthropic-prod', upstream.openaiHost, { ai_provider_id: 'anthropic', key: 'sk-ant-stored' });
  for (const file of files) {
    if (file !== inlineOnly) slugs.set(file, await admin.createConfig(JSON.parse(textOf(file)), file));
  }
});
afterAll(() => gateway?.close());
afterEach(() => gateway?.upstream.reset());

const textOf = (file: string) =>
  readFileSync(join(folder, file), 'utf8').replace('https://llm.example.com', gateway.upstream.origin);
const path = '/v1/chat/completions';
const body = { model: 'a-model', messages: [{ role: 'user', content: 'hello' }] };
const call = (file: string, more: JsonObject = {}, headers: Record<string, string> = {}) =>
  gateway.call('/chat/completions', {
    body: { ...body, ...more },
    headers: { 'x-svc-config': slugs.get(file) ?? '', ...headers },
  });

it('example configs: the README has a line for every file', () => {
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  expect(files.length).toBeGreaterThan(5);
  for (const file of files) expect(readme).toContain(`| \`${file}\` |`);
});

it.each(files)('example configs: %s also works inline', async (file) => {
  const headers = { 'x-svc-config': JSON.stringify(JSON.parse(textOf(file))), 'x-svc-metadata': '{"team":"red"}' };
  expect((await gateway.call('/chat/completions', { body, headers })).status).toBe(200);
});

it('single.json applies, sets and drops parameters', async () => {
  expect((await call('single.json', { user: 'ann', temperature: 0.9 })).status).toBe(200);
  expect(gateway.upstream.last.json()).toEqual({ ...body, temperature: 0.9, model: 'gpt-4o-mini' });
  await call('single.json');
  expect(gateway.upstream.last.json().temperature).toBe(0.2);
});

describe('fallback.json', () => {
  it('calls the second provider, with its own model, if the first fails', async () => {
    gateway.upstream.once(path, openaiError(503, 'overloaded'));
    const response = await call('fallback.json');
    expect([response.status, response.headers.get('x-svc-last-used-option-index')]).toEqual([200, 'config.targets[1]']);
    expect((await response.json()).model).toBe('claude-sonnet-5-5');
  });

  it('returns errors of the caller to the caller', async () => {
    gateway.upstream.once(path, openaiError(400, 'bad'));
    const response = await call('fallback.json');
    expect([response.status, response.headers.get('x-svc-last-used-option-index')]).toEqual([400, 'config.targets[0]']);
    expect(gateway.upstream.requests).toHaveLength(1);
  });
});

describe('by-prompt-length.json', () => {
  it.each([
    ['a short prompt', 'hello', {}, 'config.targets[0]'],
    ['a long prompt', 'word '.repeat(4000), {}, 'config.targets[1]'],
    ['a gold customer who asks for the best', 'hello', { 'x-svc-metadata': '{"tier":"gold"}' }, 'config.targets[1]'],
  ])('sends %s to the right target, as explain predicts', async (_name, content, headers, path) => {
    const sent = { model: 'best-one', messages: [{ role: 'user', content }] };
    const config = slugs.get('by-prompt-length.json');
    const asked = await gateway.call('/configs/explain', { body: { config, request: { headers, body: sent } } });
    const explained = (await asked.json()) as { targets: { path: string; first: number }[] };
    expect([asked.status, gateway.upstream.requests.length]).toEqual([200, 0]);
    expect(explained.targets.find((target) => target.first === 1)?.path).toBe(path);
    const response = await call('by-prompt-length.json', sent, headers);
    expect([response.status, response.headers.get('x-svc-last-used-option-index')]).toEqual([200, path]);
  });
});

describe('retry-and-timeouts.json', () => {
  it('retries the same provider as soon as allowed', async () => {
    gateway.upstream.on(path, openaiError(429, 'slow down', null, { 'retry-after-ms': '1' }), 2);
    const response = await call('retry-and-timeouts.json');
    const { headers } = response;
    expect([response.status, headers.get('x-svc-retry-attempt-count')]).toEqual([200, '2']);
    expect(headers.get('x-svc-last-used-option-index')).toBe('config.targets[0]');
  });

  it('continues with the next target after the retries, and after a timeout', async () => {
    gateway.upstream.on(path, openaiError(429, 'slow down', null, { 'retry-after-ms': '1' }), 3);
    expect((await call('retry-and-timeouts.json')).headers.get('x-svc-last-used-option-index')).toBe('config.targets[1]');
    expect(gateway.upstream.requests.map((request) => request.path)).toEqual([path, path, path, '/v1/messages']);
    const held = stallBeforeHead();
    gateway.upstream.once(path, held);
    expect((await call('retry-and-timeouts.json')).headers.get('x-svc-last-used-option-index')).toBe('config.targets[1]');
    expect(await (await held.reached).request.closed).toBe('client-left');
  });
});

it('circuit-breaker.json skips a provider that has failed three times', async () => {
  gateway.upstream.on(path, openaiError(500, 'down'), 3);
  for (let i = 0; i < 4; i++) {
    const response = await call('circuit-breaker.json');
    expect([response.status, response.headers.get('x-svc-last-used-option-index')]).toEqual([200, 'config.targets[1]']);
  }
  expect(gateway.upstream.requests.filter((request) => request.path === path)).toHaveLength(3);
});

it('fastest-target.json avoids a target that fails', async () => {
  // Neither status is tried again; the credential is refused at once, which must not look fast.
  for (const status of [501, 401]) {
    gateway.upstream.reset();
    gateway.upstream.on('/v1/messages', openaiError(status, 'no'));
    for (let i = 0; i < 40; i++) await call('fastest-target.json');
    // One in twenty is sent elsewhere to see: forty all but never make more than ten.
    expect(gateway.upstream.requests.filter((request) => request.path === path).length).toBeGreaterThanOrEqual(29);
  }
});

it('fill-then-spill.json sends requests above the capacity of the first target to the second', async () => {
  const held = stallBeforeHead();
  gateway.upstream.once(path, held);
  const first = call('fill-then-spill.json');
  await held.reached;
  const second = await call('fill-then-spill.json');
  held.release();
  const used = [await first, second].map((response) => response.headers.get('x-svc-last-used-option-index'));
  expect(used).toEqual(['config.targets[0]', 'config.targets[1]']);
});

it('cache.json serves the same request from memory, plain and streamed, until a refresh', async () => {
  for (const stream of [false, true]) {
    gateway.upstream.reset();
    const texts: string[] = [];
    const statuses: unknown[] = [];
    for (const headers of [{}, {}, { 'x-svc-cache-force-refresh': 'true' }, {}] as Record<string, string>[]) {
      // Streams and plain replies share entries, so each has a request of its own.
      const messages = [{ role: 'user', content: `cached, streamed: ${stream}` }];
      const response = await call('cache.json', { stream, messages }, headers);
      statuses.push(response.headers.get('x-svc-cache-status'));
      texts.push(await response.text());
    }
    expect(statuses).toEqual(['MISS', 'HIT', 'REFRESH', 'HIT']);
    expect(new Set(texts).size).toBe(1);
    expect(gateway.upstream.requests).toHaveLength(2);
  }
});

it('inline-provider-key.json sends its key to its own host and forwards the header, and cannot be saved', async () => {
  const config = JSON.parse(textOf(inlineOnly));
  const headers = { 'x-svc-config': JSON.stringify(config), 'x-request-tag': 'abc', 'x-other': 'no' };
  expect((await gateway.call('/chat/completions', { body, headers })).status).toBe(200);
  const sent = gateway.upstream.last;
  expect([sent.header('authorization'), sent.header('x-request-tag'), sent.header('x-other')]).toEqual([
    'Bearer sk-your-own-key',
    'abc',
    undefined,
  ]);
  const saved = await gateway.admin.post('/configs', { name: 'with key', workspace_id: gateway.workspaceId, config });
  expect([saved.status, JSON.stringify(saved.body)]).toEqual([400, expect.stringContaining('config.api_key')]);
});

it('required-metadata.json rejects requests without the metadata and shows it on the reply', async () => {
  expect((await call('required-metadata.json')).status).toBe(400);
  const response = await call('required-metadata.json', {}, { 'x-svc-metadata': '{"team":"red"}' });
  expect([response.status, response.headers.get('x-svc-team')]).toEqual([200, 'red']);
});

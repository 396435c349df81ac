import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { matchEndpoint } from '../../../core/endpoints/match-endpoint.ts';
import { routeNames } from '../../../core/endpoints/routes.ts';
import { type FakeRealtime, refuseWith, startFakeRealtime } from '../../support/fakes/fake-realtime.ts';
import { type SharedGatewayWithUpstream, shareGatewayWithUpstream } from '../../support/product/gateway-with-upstream.ts';
import { type Exchange as Asked, openaiError, reply } from '../../support/upstream/fake-upstream.ts';
import { type Clients, type Exchange, newClients } from './clients.ts';
import { mediaCases } from './media-cases.ts';
import { passThroughCases } from './pass-through-cases.ts';
import { id, type ProviderSlug, type RouteCase } from './route-case.ts';
import { saved, storedCases, withId } from './stored-cases.ts';
import { textCases } from './text-cases.ts';

/**
 * Every route, called by an official client through the running product: once with a successful response and once with an error of the
 * provider. The table of routes is that of the code. A route without a case fails.
 */
const cases: Record<string, readonly RouteCase[]> = { ...textCases, ...mediaCases, ...storedCases };
const table = Object.entries(cases).flatMap(([route, list]) => list.map((one) => [`${route} by ${one.by}`, route, one] as const));
const asking = table.filter(([, , one]) => one.asksProvider !== false);

/** Provider type of each slug, and the prefix of its paths below the upstream's origin. */
const providers: Record<Exclude<ProviderSlug, 'rt'>, readonly [type: string, base: string]> = {
  oai: ['openai', '/v1'],
  ant: ['anthropic', '/v1'],
  coh: ['cohere', ''],
  mis: ['mistral-ai', '/v1'],
};
const typeOf = (slug: ProviderSlug): string => (slug === 'rt' ? 'openai' : providers[slug][0]);

let gateway: SharedGatewayWithUpstream;
let realtime: FakeRealtime;
let refusing: FakeRealtime;
const keys = new Map<string, string>();

beforeAll(async () => {
  [gateway, realtime, refusing] = await Promise.all([shareGatewayWithUpstream(), startFakeRealtime(), startFakeRealtime()]);
  const { admin, upstream } = gateway;
  realtime.onSession = ({ socket }) => socket.send('{"type":"session.created","event_id":"e1"}');
  refusing.replies = [refuseWith(429, { error: { message: 'slow down', type: 'requests', param: null, code: null } })];
  const hosts: [slug: string, host: string, type: string][] = [
    ['rt', `${realtime.origin}/v1`, 'openai'],
    ['rt-refusing', `${refusing.origin}/v1`, 'openai'],
  ];
  for (const [slug, [type, base]] of Object.entries(providers)) {
    hosts.push([`${slug}-refusing`, `${upstream.origin}/refusing${base}`, type]);
    hosts.push([`${slug}-passing`, `${upstream.origin}/passing${base}`, type]);
    if (slug !== 'oai' && slug !== 'ant') hosts.push([slug, `${upstream.origin}${base}`, type]);
  }
  for (const [slug, host, type] of hosts) await admin.createUpstream(slug, host, { ai_provider_id: type });
  const checks = [{ id: 'default.wordCount', parameters: { minWords: 1 } }];
  saved.guardrail = (await admin.post('/guardrails', { name: 'every route', checks })).body.slug;
  const template = JSON.stringify([{ role: 'user', content: 'Hello {{name}}' }]);
  saved.prompt = await admin.createPrompt({ string: template, model: 'm' });
  for (const slug of ['oai', 'ant', ...hosts.map(([name]) => name)])
    keys.set(slug, await gateway.keyFor({ provider: `@${slug}` }));
  const defaults = { config_id: await admin.createConfig({ provider: '@oai' }) };
  keys.set('oai', (await admin.createKey({ scopes: ['completions.write', 'guardrails.invoke'], defaults })).key);
  for (const [, route, { reply: response, at }] of table) {
    if (response === undefined) continue;
    const [method, path] = withId(route).split(' ');
    const behaviour = typeof response === 'function' || 'run' in response ? response : reply(200, response);
    upstream.on((request) => request.method === method && request.path === (at ?? `/v1${path}`), behaviour as never);
  }
  upstream.on(({ path }) => path.startsWith('/refusing/'), openaiError(429, 'slow down'));
  upstream.on(({ path }) => path.startsWith('/passing/'), tellWhatCame);
});
afterAll(async () => {
  await gateway?.close();
  await Promise.all([realtime?.close(), refusing?.close()]);
});

const clientsOf = (slug: string): Clients => newClients(gateway, keys.get(slug) as string);

/** A provider's response to any path: an object or list in OpenAI's shape with the request and its beta headers. */
function tellWhatCame(exchange: Asked): void | Promise<void> {
  const { request } = exchange;
  const path = request.path.slice('/passing/v1'.length);
  const beta = request.header('openai-beta') ?? request.header('anthropic-beta') ?? null;
  const asked = { id, asked: `${request.method} ${path}`, beta };
  const isList = request.method === 'GET' && !path.endsWith(id);
  const one = request.method === 'DELETE' ? { ...asked, object: 'thing.deleted', deleted: true } : asked;
  return reply(200, isList || path.endsWith('/search') ? { object: 'list', data: [asked], has_more: false } : one).run(exchange);
}

/** There was exactly one exchange, of this route. */
function onlyExchange(clients: Clients, route: string): Exchange {
  expect(clients.exchanges.map(({ method, path }) => `${method} ${path}`)).toEqual([withId(route)]);
  const [exchange] = clients.exchanges as [Exchange];
  return exchange;
}

/** The service's own headers on the reply of a provider; null for a reply of the service itself. */
function expectHeaders({ headers }: Exchange, provider: string | null): void {
  const own = [...headers].filter(([name]) => name.startsWith('x-svc-') && !/dropped-params|adapted/.test(name));
  expect(Object.fromEntries(own)).toEqual({
    'x-svc-trace-id': expect.stringMatching(/./),
    'x-svc-last-used-option-index': 'config',
    'x-svc-cache-status': 'DISABLED',
    'x-svc-retry-attempt-count': '0',
    ...(provider === null ? {} : { 'x-svc-provider': provider }),
  });
}

it('every route: each one of the table has a case, and each case a route', () => {
  expect(Object.keys(cases).sort()).toEqual([...routeNames].sort());
  for (const name of routeNames) {
    const [method, path] = withId(name).split(' ') as [string, string];
    expect(matchEndpoint(method, `/v1${path}`), name).toMatchObject({ name: expect.not.stringMatching(/^proxy$/) });
  }
});

describe.concurrent('served', () => {
  it.each(table)('%s', async (_name, route, { provider = 'oai', send, expected, asksProvider }) => {
    const clients = clientsOf(provider);
    const parsed = await send(clients);
    if (typeof parsed === 'object' && parsed !== null) expect(parsed).toMatchObject(expected as object);
    else expect(parsed).toEqual(expected);
    const exchange = onlyExchange(clients, route);
    expect(exchange.status).toBe(route === 'GET /realtime' ? 101 : 200);
    if (asksProvider === false) expect(exchange.headers.get('x-svc-trace-id')).toMatch(/./);
    else expectHeaders(exchange, typeOf(provider));
  });
});

describe.concurrent('rejected by the provider', () => {
  it.each(asking)('%s', async (_name, route, { provider = 'oai', send }) => {
    const clients = clientsOf(`${provider}-refusing`);
    const error = await send(clients).then(
      () => 'no error',
      (thrown) => thrown,
    );
    expect(error).toBeInstanceOf(Error);
    expect(error.status ?? error.statusCode).toBe(429);
    expect(error.message + (error.body ?? '')).toContain('slow down');
    const exchange = onlyExchange(clients, route);
    expect(exchange.status).toBe(429);
    expectHeaders(exchange, typeOf(provider));
  });
});

describe.concurrent('passed through unchanged', () => {
  const providerOf = (route: string): ProviderSlug => (route.includes('/messages/batches') ? 'ant' : 'oai');

  it.each(Object.entries(passThroughCases))('%s', async (route, send) => {
    const [method, path] = route.split(' ') as [string, string];
    expect(matchEndpoint(method, `/v1${path}`)).toMatchObject({ name: 'proxy' });
    const provider = providerOf(route);
    const clients = clientsOf(`${provider}-passing`);
    // biome-ignore lint/suspicious/noExplicitAny: objects and pages of every kind
    const parsed: any = await send(clients);
    const [found] = parsed.data ?? [parsed];
    expect(found).toMatchObject({ id, asked: route });
    if (method === 'DELETE') expect(found).toMatchObject({ object: 'thing.deleted', deleted: true });
    if (/assistants|threads|vector_stores/.test(route)) expect(found.beta).toBe('assistants=v2');
    expectHeaders(onlyExchange(clients, route), typeOf(provider));
  });

  it.each(Object.entries(passThroughCases))('%s, rejected by the provider', async (route, send) => {
    const provider = providerOf(route);
    const clients = clientsOf(`${provider}-refusing`);
    await expect(send(clients)).rejects.toMatchObject({ status: 429, message: expect.stringContaining('slow down') });
    expectHeaders(onlyExchange(clients, route), typeOf(provider));
  });

  it('with the beta features of a client on a shaped route', async () => {
    const { anthropic } = clientsOf('ant');
    const beta = { model: 'claude-test', max_tokens: 5, messages: [{ role: 'user' as const, content: 'beta' }] };
    await anthropic.beta.messages.create({ ...beta, betas: ['one-2026-01-01', 'two-2026-01-01'] });
    const sent = gateway.upstream.requests.find(({ text }) => text.includes('"beta"'));
    expect(sent?.header('anthropic-beta')).toBe('one-2026-01-01,two-2026-01-01');
  });
});

it('every route: stored resources of the service have the same headers, and name no provider', async () => {
  const clients = newClients(gateway, gateway.workspaceKey);
  const { files, batches } = clients.openai;
  const text = '{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[]}}';
  const file = await files.create({ file: new File([text], 'in.jsonl'), purpose: 'batch' });
  expect((await files.list()).data).toMatchObject([{ id: file.id }]);
  expect(await files.retrieve(file.id)).toMatchObject({ id: file.id });
  expect(await (await files.content(file.id)).text()).toBe(text);
  const options = { svc_options: { 'x-svc-provider': '@oai' }, completion_window: 'immediate' as '24h' };
  const batch = await batches.create({ input_file_id: file.id, endpoint: '/v1/chat/completions', ...options });
  expect((await batches.list()).data).toMatchObject([{ id: batch.id }]);
  expect(await batches.cancel(batch.id)).toMatchObject({ id: batch.id });
  expect(await batches.retrieve(batch.id)).toMatchObject({ id: batch.id });
  expect(await files.delete(file.id)).toEqual({ id: file.id, object: 'file', deleted: true });
  expect(clients.exchanges).toHaveLength(9);
  for (const exchange of clients.exchanges) expectHeaders(exchange, null);
});

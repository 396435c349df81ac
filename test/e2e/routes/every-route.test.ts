import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { matchEndpoint, routeNames } from '../../../core/endpoints/index.ts';
import { type FakeRealtime, refuseWith, startFakeRealtime } from '../../support/fake-realtime.ts';
import { openaiError, reply } from '../../support/fake-upstream.ts';
import { type GatewayWithUpstream, startGatewayWithUpstream } from '../../support/gateway-with-upstream.ts';
import { type Clients, type Exchange, newClients } from './clients.ts';
import { keptCases } from './kept-cases.ts';
import { mediaCases } from './media-cases.ts';
import { id, type ProviderSlug, type RouteCase } from './route-case.ts';
import { textCases } from './text-cases.ts';

/**
 * Every route there is, sent by an official client to the running product: once answered, once refused by the provider. The table of
 * routes is that of the code; a route without a case fails.
 */
const cases: Record<string, readonly RouteCase[]> = { ...textCases, ...mediaCases, ...keptCases };
const table = Object.entries(cases).flatMap(([route, list]) => list.map((one) => [`${route} by ${one.by}`, route, one] as const));
const asking = table.filter(([, , one]) => one.asksProvider !== false);

/** Provider type of each slug, and where its paths begin below the upstream's origin. */
const providers: Record<Exclude<ProviderSlug, 'rt'>, readonly [type: string, base: string]> = {
  oai: ['openai', '/v1'],
  ant: ['anthropic', '/v1'],
  coh: ['cohere', ''],
  mis: ['mistral-ai', '/v1'],
};
const typeOf = (slug: ProviderSlug): string => (slug === 'rt' ? 'openai' : providers[slug][0]);

let gateway: GatewayWithUpstream;
let realtime: FakeRealtime;
let refusing: FakeRealtime;
const keys = new Map<string, string>();

beforeAll(async () => {
  [gateway, realtime, refusing] = await Promise.all([startGatewayWithUpstream(), startFakeRealtime(), startFakeRealtime()]);
  const { admin, upstream } = gateway;
  realtime.onSession = ({ socket }) => socket.send('{"type":"session.created","event_id":"e1"}');
  refusing.answers = [refuseWith(429, { error: { message: 'slow down', type: 'requests', param: null, code: null } })];
  const hosts: [slug: string, host: string, type: string][] = [
    ['rt', `${realtime.origin}/v1`, 'openai'],
    ['rt-refusing', `${refusing.origin}/v1`, 'openai'],
  ];
  for (const [slug, [type, base]] of Object.entries(providers)) {
    hosts.push([`${slug}-refusing`, `${upstream.origin}/refusing${base}`, type]);
    if (slug !== 'oai' && slug !== 'ant') hosts.push([slug, `${upstream.origin}${base}`, type]);
  }
  for (const [slug, host, type] of hosts) await admin.createUpstream(slug, host, { ai_provider_id: type });
  for (const slug of ['oai', 'ant', ...hosts.map(([name]) => name)])
    keys.set(slug, await gateway.keyFor({ provider: `@${slug}` }));
  for (const [, route, { answer, at }] of table) {
    if (answer === undefined) continue;
    const [method, path] = route.replace('{id}', id).split(' ');
    const behaviour = typeof answer === 'function' || 'run' in answer ? answer : reply(200, answer);
    upstream.on((request) => request.method === method && request.path === (at ?? `/v1${path}`), behaviour as never);
  }
  upstream.on(({ path }) => path.startsWith('/refusing/'), openaiError(429, 'slow down'));
});
afterAll(async () => {
  await gateway?.close();
  await Promise.all([realtime?.close(), refusing?.close()]);
});

const clientsOf = (slug: string): Clients => newClients(gateway, keys.get(slug) as string);

/** The exchanges were one, of this route. */
function onlyExchange(clients: Clients, route: string): Exchange {
  expect(clients.exchanges).toHaveLength(1);
  const [exchange] = clients.exchanges as [Exchange];
  const [method, pattern] = route.split(' ') as [string, string];
  expect([exchange.method, exchange.path]).toEqual([method, pattern.replace('{id}', id)]);
  return exchange;
}

/** The service's own headers (data-plane §3) of a request that a provider was asked for. */
function expectHeaders({ headers }: Exchange, provider: string): void {
  const own = [...headers].filter(([name]) => name.startsWith('x-svc-') && !/dropped-params|adapted/.test(name));
  expect(Object.fromEntries(own)).toEqual({
    'x-svc-trace-id': expect.stringMatching(/./),
    'x-svc-last-used-option-index': 'config',
    'x-svc-cache-status': 'DISABLED',
    'x-svc-retry-attempt-count': '0',
    'x-svc-provider': provider,
  });
}

it('every route of the table has a case, and every case a route', () => {
  expect(Object.keys(cases).sort()).toEqual([...routeNames].sort());
  for (const name of routeNames) {
    const [method, path] = name.replace('{id}', id).split(' ') as [string, string];
    expect(matchEndpoint(method, `/v1${path}`), name).toMatchObject({ name: expect.not.stringMatching(/^proxy$/) });
  }
});

describe.concurrent('answered', () => {
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

describe.concurrent('refused by the provider', () => {
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

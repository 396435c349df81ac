import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import {
  type GatewayWithUpstream,
  type LooseResponse,
  startGatewayWithUpstream,
} from '../../support/product/gateway-with-upstream.ts';
import {
  cutBeforeHead,
  echo,
  garbage,
  openaiError,
  rawBytes,
  stallBeforeHead,
  stallMidStream,
} from '../../support/upstream/fake-upstream.ts';
import { type RouteKind, routeKinds } from './route-kinds.ts';

/**
 * Every kind of route with every failure of a provider, over real sockets. Retry, fallback, timeouts, circuits and cut replies work
 * the same for JSON, forms, audio and events. Each test has its own paths at the provider, so that all run at once.
 */
let gateway: GatewayWithUpstream;
beforeAll(async () => {
  // These tests check single requests, not the share of retries.
  gateway = await startGatewayWithUpstream({ env: { RETRY_BUDGET_FLOOR: '1000', IDLE_TIMEOUT: '1000' }, database: 'embedded' });
  gateway.upstream.on(({ path }) => path.endsWith('/echo'), echo());
});
afterAll(() => gateway?.close());

let count = 0;

/** A provider with its own paths: the target of inline configs, and its requests. */
function newPlace({ provider }: RouteKind) {
  const base = `/place-${++count}/v1`;
  return {
    base,
    matches: ({ path }: { path: string }) => path.startsWith(`${base}/`),
    target: { provider: provider ?? 'openai', api_key: 'sk', custom_host: `${gateway.upstream.origin}${base}` },
    asked: () => gateway.upstream.requests.filter(({ path }) => path.startsWith(`${base}/`)),
  };
}

const send = ({ path, body }: RouteKind, config: JsonObject | string): Promise<LooseResponse> =>
  gateway.call(path, {
    method: 'POST',
    body: body(),
    headers: { 'x-svc-config': typeof config === 'string' ? config : JSON.stringify(config) },
  });

const bytesOf = async (response: LooseResponse): Promise<Buffer> => Buffer.from(await response.arrayBuffer());
const fallback = (...targets: JsonObject[]): JsonObject => ({ strategy: { mode: 'fallback' }, targets });

/** Status and the service's own headers, except for the trace id. */
const toldBy = ({ status, headers }: LooseResponse) => [
  status,
  headers.get('x-svc-last-used-option-index'),
  Number(headers.get('x-svc-retry-attempt-count')),
  headers.get('x-svc-provider'),
  headers.get('x-svc-cache-status'),
];

describe.concurrent.each(Object.entries(routeKinds))('%s', (_name, kind) => {
  const provider = kind.provider ?? 'openai';
  const good = async () => bytesOf(await send(kind, newPlace(kind).target));
  /** Expects the reply of a successful request. An echoed form has a different boundary each time. */
  const expectGood = async (response: LooseResponse) => {
    const [given, expected] = [await bytesOf(response), await good()];
    expect(given.length).toBe(expected.length);
    if (!(kind.body() instanceof FormData)) expect(given.equals(expected)).toBe(true);
  };

  it('is retried after a 429, with the same bytes', async () => {
    const path = newPlace(kind);
    gateway.upstream.on(path.matches, openaiError(429, 'slow down', null, { 'retry-after-ms': '1' }), 1);
    const response = await send(kind, { ...path.target, retry: { attempts: 1, use_retry_after_header: true } });
    expect(toldBy(response)).toEqual([200, 'config', 1, provider, 'DISABLED']);
    await expectGood(response);
    expect(path.asked().map(({ sha256 }) => sha256)).toEqual(Array(2).fill(path.asked()[0]?.sha256));
  });

  it.each([
    ['a 503', () => openaiError(503, 'down')],
    ['a cut before the first byte', () => cutBeforeHead()],
    ['garbage', () => garbage()],
    ['no reply in time', () => stallBeforeHead()],
    ['a head and then silence', () => stallMidStream([], [])],
  ])('every error: %s continues with the next target, with the same bytes', async (_error, behaviour) => {
    const [first, second] = [newPlace(kind), newPlace(kind)];
    gateway.upstream.on(first.matches, behaviour());
    const response = await send(kind, fallback({ ...first.target, request_timeout: 2000 }, second.target));
    expect(toldBy(response)).toEqual([200, 'config.targets[1]', 0, provider, 'DISABLED']);
    await expectGood(response);
    expect(second.asked().map(({ sha256 }) => sha256)).toEqual([first.asked()[0]?.sha256]);
  });

  it('is a 408 in its own format if no reply came in time and there is no other target', async () => {
    const path = newPlace(kind);
    gateway.upstream.on(path.matches, stallBeforeHead());
    const response = await send(kind, { ...path.target, request_timeout: 300 });
    expect(toldBy(response)).toEqual([408, 'config', 0, provider, 'DISABLED']);
    const { error, ...others } = await response.json();
    expect(error).toMatchObject({ message: expect.any(String), code: 'request_timeout' });
    expect(others.type).toBe(kind.provider === 'anthropic' ? 'error' : undefined);
  });

  it('is not sent again after its reply has begun, and a cut reply looks cut', async () => {
    const [first, second] = [newPlace(kind), newPlace(kind)];
    const { type, text } = kind.begun;
    gateway.upstream.on(
      first.matches,
      rawBytes(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: 5000\r\n\r\n${text}`),
    );
    const response = await send(
      kind,
      fallback({ ...first.target, retry: { attempts: 2, on_status_codes: [500] } }, second.target),
    );
    const isWhole = kind.end === 'whole';
    expect(toldBy(response)).toEqual([200, `config.targets[${isWhole ? 1 : 0}]`, 0, provider, 'DISABLED']);
    if (isWhole) await expectGood(response);
    else if (kind.end === 'cut') await expect(response.arrayBuffer()).rejects.toThrow();
    else expect((await response.text()).trim().split('\n\n').at(-1)).toMatch(kind.end);
    expect([first.asked().length, second.asked().length]).toEqual([1, isWhole ? 1 : 0]);
  });

  it('skips a target whose circuit it has opened', async () => {
    const [down, well] = [newPlace(kind), newPlace(kind)];
    gateway.upstream.on(down.matches, openaiError(503, 'down'));
    const stored: JsonObject[] = [];
    for (const { base } of [down, well]) {
      const slug = base.slice(1, -3);
      const fields = { ai_provider_id: provider };
      stored.push({ provider: await gateway.admin.createUpstream(slug, `${gateway.upstream.origin}${base}`, fields) });
    }
    const strategy = { mode: 'fallback', cb_config: { failure_threshold: 1, cooldown_interval: 30_000 } };
    const config = await gateway.admin.createConfig({ strategy, targets: stored });
    for (const timesAsked of [1, 2]) {
      const response = await send(kind, config);
      expect(toldBy(response)).toEqual([200, 'config.targets[1]', 0, provider, 'DISABLED']);
      await bytesOf(response);
      expect([down.asked().length, well.asked().length]).toEqual([1, timesAsked]);
    }
  });
});

it('every error: a streamed upload is sent once, and the rejection is the provider’s', async () => {
  const kind = routeKinds['a pass-through of a form'] as RouteKind;
  const path = newPlace(kind);
  gateway.upstream.on(path.matches, openaiError(429, 'slow down', null, { 'retry-after-ms': '1' }));
  const retry = { attempts: 1, use_retry_after_header: true };
  const response = await send({ ...kind, path: '/files' }, { ...path.target, retry });
  expect(toldBy(response)).toEqual([429, 'config', 0, 'openai', 'DISABLED']);
  expect((await response.json()).error.message).toContain('slow down');
  expect(path.asked()).toHaveLength(1);
});

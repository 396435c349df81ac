import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../core/contract/values/json/json.ts';
import { freePort } from '../support/processes/free-port.ts';
import { type SharedGatewayWithUpstream, shareGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';
import {
  type Behaviour,
  cutMidStream,
  echo,
  eventStream,
  reply,
  stallBeforeHead,
  stallMidStream,
} from '../support/upstream/fake-upstream.ts';

/**
 * Cases beyond the matrix of routes/every-error.test.ts: an unreachable provider, time limits that combine, the end of a stream
 * that has begun.
 */
let gateway: SharedGatewayWithUpstream;
beforeAll(async () => {
  gateway = await shareGatewayWithUpstream('configured');
  await gateway.admin.createUpstream('spare', `${gateway.upstream.origin}/spare/v1`);
  await gateway.admin.createUpstream('closed', `http://127.0.0.1:${await freePort()}/v1`);
});
afterAll(() => gateway?.close());
afterEach(() => gateway?.upstream.reset());

const messages = [{ role: 'user', content: 'hello' }];
const chunk = (text: string) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content: text }, finish_reason: null }] })}\n\n`;

interface Route {
  readonly path: string;
  readonly body: JsonObject | string;
  readonly headers?: Record<string, string>;
}
/** One route of each kind: shaped and plain, shaped and streamed, passed through with JSON, with a form, with bytes. */
const routes: Record<string, Route> = {
  'a plain reply': { path: '/chat/completions', body: { model: 'm', messages } },
  'a stream': { path: '/chat/completions', body: { model: 'm', messages, stream: true } },
  'a reply of embeddings': { path: '/embeddings', body: { model: 'm', input: 'x' } },
  'a pass-through of JSON': { path: '/proxy/echo/json', body: { any: 'thing' } },
  'a pass-through of a form': {
    path: '/proxy/echo/form',
    body: '--b\r\ncontent-disposition: form-data; name="f"; filename="f"\r\n\r\n\u0000\u0001bytes\r\n--b--\r\n',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  },
  'a pass-through of bytes': { path: '/proxy/echo/bytes', body: 'a\u0000b', headers: { 'content-type': 'audio/wav' } },
};

const send = ({ path, body, headers }: Route, config: JsonObject) =>
  gateway.call(path, { method: 'POST', body, headers: { ...headers, 'x-svc-config': JSON.stringify(config) } });

describe.each(Object.entries(routes))('%s', (_name, route) => {
  const provider = '@oai';
  const spare = { provider: '@spare' };
  const isFirst = (request: { path: string }) => !request.path.startsWith('/spare');
  beforeEach(() => gateway.upstream.on((request) => request.path.includes('/echo/'), echo()));

  it('continues with the next target if the port is closed', async () => {
    const response = await send(route, { strategy: { mode: 'fallback' }, targets: [{ provider: '@closed' }, spare] });
    expect([response.status, response.headers.get('x-svc-last-used-option-index')]).toEqual([200, 'config.targets[1]']);
    await response.arrayBuffer();
    const log = await gateway.logOf(response);
    expect(log.outcome).toBe('success');
    expect(log.attempts).toMatchObject([
      { targetPath: 'config.targets[0]', status: 502, errorCode: 'upstream_connect' },
      { targetPath: 'config.targets[1]', status: 200 },
    ]);
  });

  it('is retried after an attempt that took too long', async () => {
    gateway.upstream.on(isFirst, stallBeforeHead(), 1);
    const response = await send(route, { provider, retry: { attempts: 1, max_attempt_time_ms: 300 } });
    expect([response.status, response.headers.get('x-svc-retry-attempt-count')]).toEqual([200, '1']);
    await response.arrayBuffer();
  });

  it('ends with 408 when the time of all attempts is over', async () => {
    gateway.upstream.on(isFirst, stallBeforeHead());
    const response = await send(route, { provider, retry: { attempts: 5, on_status_codes: [408], max_total_time_ms: 300 } });
    expect(response.status).toBe(408);
    await response.arrayBuffer();
    expect((await gateway.logOf(response)).decisions).toEqual([{ targetPath: 'config', decision: 'total_time' }]);
  });
});

describe('a stream that has begun', () => {
  const broken: Record<string, () => Behaviour> = {
    'is cut': () => cutMidStream([chunk('a'), chunk('b')]),
    'ends too early': () => eventStream([chunk('a')]),
    'falls silent': () => stallMidStream([chunk('a')], []),
  };

  it.each(Object.entries(broken))(
    'with %s is not sent a second time, and ends with an error in its own format',
    async (_name, behaviour) => {
      gateway.upstream.always(behaviour());
      const config = {
        strategy: { mode: 'fallback' },
        targets: [{ provider: '@oai', retry: { attempts: 3 } }, { provider: '@spare' }],
      };
      const response = await send(routes['a stream'] as Route, config);
      const text = await response.text();
      expect(response.status).toBe(200);
      expect(text).toContain('"content":"a"');
      const last = text.trim().split('\n\n').at(-1) as string;
      expect(JSON.parse(last.slice('data: '.length)).error.code).toMatch(/upstream_reset|stream_incomplete|request_timeout/);
      expect(gateway.upstream.requests).toHaveLength(1);
      const log = await gateway.logOf(response);
      expect([log.outcome, log.attempts.length]).toEqual(['cut', 1]);
    },
  );

  it('has an error event on /messages', async () => {
    gateway.upstream.always(
      cutMidStream(['event: message_start\ndata: {"type":"message_start","message":{"id":"m","usage":{"input_tokens":1}}}\n\n']),
    );
    const route = { path: '/messages', body: { model: 'm', max_tokens: 5, messages, stream: true } };
    const text = await (await send(route, { provider: '@ant' })).text();
    expect(text.trim().split('\n\n').at(-1)).toMatch(/^event: error\ndata: \{"type":"error"/);
  });

  it('is cut on a pass-through route, whose format is not the gateway’s', async () => {
    gateway.upstream.always(cutMidStream([chunk('a')]));
    const response = await send(routes['a pass-through of JSON'] as Route, { provider: '@oai' });
    await expect(response.text()).rejects.toThrow();
    expect((await gateway.logOf(response)).outcome).toBe('cut');
  });
});

it('resilience: metrics count retries, rejected retries, and circuits', async () => {
  gateway.upstream.once('/v1/chat/completions', reply(503, {}));
  await (await send(routes['a plain reply'] as Route, { provider: '@oai', retry: { attempts: 1 } })).arrayBuffer();
  const page = await (await fetch(`${gateway.origin}/metrics`)).text();
  for (const [name, value] of [
    ['retries_total', '[1-9]\\d*'],
    ['retries_refused_total', '0'],
    ['circuits_open', '0'],
    ['circuits_opened_total', '0'],
  ]) {
    expect(page).toMatch(new RegExp(`^svc_${name}\\{[^}]*\\} ${value}$`, 'm'));
  }
});

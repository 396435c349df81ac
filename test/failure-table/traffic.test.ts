import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRawClient } from '../support/clients/raw-client.ts';
import { type GatewayWithUpstream, startGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';
import { newProductDatabase, type ProductDatabase } from '../support/product/product-database.ts';
import { startGateway } from '../support/product/start-gateway.ts';
import { until } from '../support/until.ts';
import { cutBeforeHead, garbage, stallBeforeHead, stallMidStream, stallThenCut } from '../support/upstream/fake-upstream.ts';
import { dataEvent } from '../support/upstream/send-events.ts';

const path = '/v1/chat/completions';
const chat = (more: object = {}) => ({ model: '@oai/gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }], ...more });
const chunk = (content: string) =>
  dataEvent({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content } }] });

describe('failure table: traffic', () => {
  let gateway: GatewayWithUpstream;
  let dataDir: string;
  let database: ProductDatabase;
  const bodyMemoryMax = 4_000_000;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'svc-failures-'));
    database = await newProductDatabase(dataDir);
    const env = { ...database.env, BODY_MEMORY_MAX: String(bodyMemoryMax) };
    gateway = await startGatewayWithUpstream({ dataDir, env });
  });
  afterAll(async () => {
    await gateway?.close();
    await database?.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  describe('the provider', () => {
    it.each([
      ['is slow', () => stallBeforeHead(), 408, 'request_timeout'],
      ['resets the connection', () => cutBeforeHead(), 502, 'upstream_reset'],
      ['replies with garbage', () => garbage(), 502, 'upstream_invalid'],
    ])(
      '%s: the error names the cause, the call is retried as configured, and a fallback replies instead',
      async (name, behaviour, status, code) => {
        const prefix = `/${name.replaceAll(' ', '-')}`;
        gateway.upstream.on(`${prefix}${path}`, behaviour());
        const bad = {
          provider: 'openai',
          api_key: 'sk',
          custom_host: `${gateway.upstream.origin}${prefix}/v1`,
          request_timeout: 300,
        };
        const callWith = (config: object) =>
          gateway.call('/chat/completions', {
            body: chat({ model: 'gpt-4o' }),
            headers: { 'x-svc-config': JSON.stringify(config) },
          });

        const failed = await callWith({ ...bad, retry: { attempts: 1, on_status_codes: [status] } });
        expect([failed.status, (await failed.json()).error.code]).toEqual([status, code]);
        expect(failed.headers.get('x-svc-retry-attempt-count')).toBe('-1');
        expect((await gateway.logOf(failed)).outcome).toBe('failed');

        const rescued = await callWith({ strategy: { mode: 'fallback' }, targets: [bad, { provider: '@oai' }] });
        expect([rescued.status, rescued.headers.get('x-svc-last-used-option-index')]).toEqual([200, 'config.targets[1]']);
        await rescued.arrayBuffer();
      },
    );

    it('breaks off a stream that has begun: the stream ends with an error event, and the record is not `success`', async () => {
      const cut = stallThenCut([chunk('one')]);
      gateway.upstream.once(path, cut);
      const reply = await gateway.call('/chat/completions', { body: chat({ stream: true }) });
      const reader = (reply.body as ReadableStream<Uint8Array>).getReader();
      let text = Buffer.from((await reader.read()).value as Uint8Array).toString();
      cut.release();
      for (let next = await reader.read(); !next.done; next = await reader.read()) text += Buffer.from(next.value).toString();
      expect(text).toContain('"one"');
      expect(text.slice(text.indexOf('"one"'))).toContain('"error"');
      expect((await gateway.logOf(reply)).outcome).not.toBe('success');
    });
  });

  it('client leaves: the call to the provider ends too, and the record says `aborted` with the usage so far', async () => {
    const held = stallMidStream([chunk('one')], [chunk('two')]);
    gateway.upstream.once(path, held);
    const leaving = new AbortController();
    const trace = 'a-client-that-left';
    const reply = await gateway.call('/chat/completions', {
      body: chat({ stream: true }),
      headers: { 'x-svc-trace-id': trace },
      signal: leaving.signal,
    });
    const { request } = await held.reached;
    expect(reply.status).toBe(200);
    leaving.abort();
    expect(await request.closed).toBe('client-left');
    const log = await gateway.logOf(trace);
    expect(log.outcome).toBe('aborted');
    expect(log.metrics.usage_source).toBe('estimate');
    expect(log.metrics.req_units).toBeGreaterThan(0);
    expect(log.metrics.res_units).toBeGreaterThan(0);
    held.release();
  });

  // A parsed and rewritten body counts three times: the received bytes, the parsed value, and the sent bytes.
  it('memory limit reached: 503 with retry-after, before memory grows, and room again afterwards', async () => {
    const held = stallBeforeHead();
    gateway.upstream.on(path, held);
    const large = () => gateway.call('/chat/completions', { body: chat({ user: 'u'.repeat(bodyMemoryMax / 5) }) });
    const calls = Array.from({ length: 6 }, large);
    const refused = await Promise.any(
      calls.map(async (call) => {
        const reply = await call;
        if (reply.status === 200) throw new Error('admitted');
        return { status: reply.status, retryAfter: reply.headers.get('retry-after'), body: await reply.json() };
      }),
    );
    expect([refused.status, refused.body.error.code]).toEqual([503, 'overloaded']);
    expect(refused.retryAfter).toMatch(/^\d+$/);
    held.release();
    for (const call of calls) await (await call).arrayBuffer().catch(() => undefined);
    gateway.upstream.reset();
    const after = await large();
    expect(after.status).toBe(200);
    await after.arrayBuffer();
  });

  // The last one: it ends the product.
  it('stop: new requests are rejected, streams finish, and every record is kept', async () => {
    const held = stallMidStream([chunk('one')], [chunk('two'), 'data: [DONE]\n\n']);
    gateway.upstream.once(path, held);
    const reply = await gateway.call('/chat/completions', {
      body: chat({ stream: true }),
      headers: { 'x-svc-trace-id': 'in-flight-at-the-stop' },
    });
    await held.reached;
    const stopped = gateway.stop();
    // The port is closed once a new connection is refused.
    await until(async () => {
      const client = await openRawClient(gateway.port).catch(() => null);
      client?.destroy();
      return client === null;
    });
    held.release();
    expect(await reply.text()).toMatch(/"one"[\s\S]*"two"[\s\S]*\[DONE\]/);
    expect(await stopped).toBe(0);

    const again = await startGateway({ dataDir, env: database.env });
    try {
      const found = await until(async () => {
        const list = await again.admin.get('/logs?trace_id=in-flight-at-the-stop');
        return list.body.data.length > 0 && list.body;
      });
      expect([found.data.length, found.data[0].outcome]).toEqual([1, 'success']);
    } finally {
      await again.stop();
    }
  });
});

import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LoneGateway, startLoneGateway } from '../support/product/lone-gateway.ts';
import { randomFrom } from '../support/samples/random-from.ts';
import { until, within } from '../support/until.ts';
import { type HostileProvider, pickOf, startHostileProvider } from './hostile-peers/provider.ts';

// A provider that lies, stops and resets, beside clients that read slowly, stop reading and leave. Whatever they do together, the process
// goes on, no request stays open, no memory for bodies stays held, and each request has one record.

const seed = 20_261_127;
const random = randomFrom(seed);
const requestCount = 400;
const clientCount = 20;
/** Clients that get no complete reply leave after this time, in milliseconds. */
const patienceMs = 2000;

const masked = { 'default.regexReplace': { rule: '/hello/g', redactText: '***' } };
const denied = { 'default.regexMatch': { rule: '(?:hello){20}', not: true }, deny: true };

let provider: HostileProvider;
let gateway: LoneGateway;

beforeAll(async () => {
  provider = await startHostileProvider(random);
  gateway = await startLoneGateway({ LOG_LEVEL: 'error' });
  for (const [slug, type] of [
    ['oai', 'openai'],
    ['ant', 'anthropic'],
  ] as const) {
    gateway.putProvider(slug, type, { settings: { custom_host: provider.host, api_key: 'k' } });
    gateway.putConfig(`${slug}-plain`, { provider: `@${slug}` });
    gateway.putConfig(`${slug}-retry`, { provider: `@${slug}`, retry: { attempts: 2 } });
    gateway.putConfig(`${slug}-timeout`, { provider: `@${slug}`, request_timeout: 200 });
    gateway.putConfig(`${slug}-cache`, { provider: `@${slug}`, cache: { mode: 'simple' } });
    gateway.putConfig(`${slug}-window`, { provider: `@${slug}`, output_guardrails: [{ ...masked, stream: 'window' }] });
    gateway.putConfig(`${slug}-buffer`, { provider: `@${slug}`, output_guardrails: [{ ...masked, stream: 'buffer' }] });
    gateway.putConfig(`${slug}-denied`, { provider: `@${slug}`, output_guardrails: [{ ...denied, stream: 'window' }] });
  }
  gateway.putProvider('mock', 'mock', {});
  const targets = [{ provider: '@oai' }, { provider: '@ant' }, { provider: '@mock', override_params: { model: 'echo' } }];
  gateway.putConfig('fallback', { strategy: { mode: 'fallback' }, targets });
});

afterAll(async () => {
  await gateway?.close();
  await provider?.close();
});

const paths = ['/chat/completions', '/chat/completions', '/messages', '/responses', '/completions', '/embeddings', '/other/path'];
const configs = ['plain', 'plain', 'retry', 'timeout', 'cache', 'window', 'buffer', 'denied'].flatMap((kind) => [
  `oai-${kind}`,
  `ant-${kind}`,
]);
const manners = ['reads', 'reads', 'reads', 'reads slowly', 'stops reading', 'leaves', 'sends slowly'] as const;

/** Makes one request. Resolves when its connection is closed, by either side. */
function makeRequest(id: string): Promise<void> {
  const path = pickOf(random, paths);
  const stream = random() < 0.6;
  const text = random() < 0.05 ? 'z'.repeat(300_000) : 'hi';
  const input = path === '/embeddings' || path === '/responses' ? { input: text } : { prompt: text };
  const body = JSON.stringify({
    ...{ model: 'm', stream, max_tokens: 9 },
    ...(path === '/chat/completions' || path === '/messages' ? { messages: [{ role: 'user', content: text }] } : input),
  });
  const config = random() < 0.2 ? 'fallback' : pickOf(random, configs);
  const manner = pickOf(random, manners);
  const request =
    `POST /v1${path} HTTP/1.1\r\nhost: gateway\r\nconnection: close\r\ncontent-type: application/json\r\n` +
    `x-svc-api-key: ${gateway.key}\r\nx-svc-config: ${config}\r\nx-svc-trace-id: ${id}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const leavesAfter = manner === 'leaves' ? random() * 100_000 : Number.POSITIVE_INFINITY;
  const waits = random() * 20;
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(gateway.origin).port), '127.0.0.1');
    const impatient = setTimeout(() => socket.destroy(), patienceMs);
    let received = 0;
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(impatient);
      resolve();
    });
    socket.on('data', (bytes) => {
      received += bytes.length;
      if (received > leavesAfter) socket.destroy();
      if (manner === 'stops reading') socket.pause();
      if (manner !== 'reads slowly') return;
      socket.pause();
      setTimeout(() => socket.resume(), waits);
    });
    if (manner !== 'sends slowly') return void socket.write(request);
    const half = Math.floor(request.length / 2);
    socket.write(request.slice(0, half));
    setTimeout(() => socket.write(request.slice(half)), waits);
  });
}

it(`hostile providers and clients (seed ${seed}): the process goes on, and each request has one record`, async () => {
  // The key and the documents are known before clients begin to leave.
  const first = await gateway.call('/chat/completions', {
    body: { model: '@mock/echo', messages: [{ role: 'user', content: 'hi' }] },
  });
  expect(first.status).toBe(200);

  const ids = Array.from({ length: requestCount }, (_, at) => `hostile-${at}`);
  const left = [...ids];
  const client = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) await makeRequest(id);
  };
  await within(Promise.all(Array.from({ length: clientCount }, client)), 'the end of all requests', 100_000);

  expect(provider.requests).toBeGreaterThan(requestCount / 2);
  // The scrape itself is one request.
  await until(async () => (await gauge('svc_requests_in_flight')) === 1 && (await gauge('svc_body_bytes_held')) === 0);
  const recorded = () =>
    [...gateway.plane.records.values()].map(({ traceId }) => traceId).filter((id) => id.startsWith('hostile-'));
  await until(() => recorded().length >= requestCount, { what: 'a record of each request' });
  expect(recorded().sort()).toEqual([...ids].sort());
  expect(gateway.output()).not.toMatch(/"level":"(?:error|fatal)"|AssertionError|TypeError/);
  const last = await gateway.call('/chat/completions', {
    body: { model: '@mock/echo', messages: [{ role: 'user', content: 'hi' }] },
  });
  expect(last.status).toBe(200);
});

async function gauge(name: string): Promise<number> {
  const text = await (await fetch(`${gateway.origin}/metrics`)).text();
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
}

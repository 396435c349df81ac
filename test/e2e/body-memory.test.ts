import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type GatewayWithUpstream, startGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';

/** Many large bodies at once through one gateway process whose memory is watched from outside. */
const mebibytes = process.env.LONG_TESTS ? 128 : 64;
const bodyMemoryMax = mebibytes * 1024 * 1024;
/** Twelve of them do not fit at once. */
const bodyBytes = mebibytes * 120_000;
/** The bound that the description of BODY_MEMORY_MAX states. */
const residentMax = 400 * 1024 * 1024 + 3 * bodyMemoryMax;
/** The second round shows that the memory of the first is used again. */
const rounds = process.env.LONG_TESTS ? 8 : 2;
let gateway: GatewayWithUpstream;
beforeAll(async () => {
  gateway = await startGatewayWithUpstream({ env: { GATEWAY_PROCESSES: '1', BODY_MEMORY_MAX: String(bodyMemoryMax) } });
});
afterAll(() => gateway?.close());

/** Resident memory of the gateway process, from Linux's `/proc`. */
function residentBytes(): number {
  const [pid] = gateway.pidsOf('gateway');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

it.each([
  ['large requests', '/chat/completions'],
  ['large requests to be translated', '/responses'],
])('%s, many at once, stay within the bound on resident memory, and small calls beside them are served', async (_, path) => {
  const text = 'QUJD'.repeat(bodyBytes / 4);
  const content = path === '/responses' ? { input: text } : { messages: [{ role: 'user', content: text }] };
  const body = JSON.stringify({ model: '@oai/gpt-5', ...content });
  const small = { model: '@mock/echo', messages: [{ role: 'user', content: 'hello' }] };
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, residentBytes());
  }, 10);
  const statuses = new Map<number, number>();
  for (let round = 0; round < rounds; round++) {
    const large = Array.from({ length: 12 }, () => gateway.call(path, { headers: { 'content-type': 'application/json' }, body }));
    for (let call = 0; call < 20; call++) expect((await gateway.call('/chat/completions', { body: small })).status).toBe(200);
    for (const reply of await Promise.all(large)) {
      await reply.arrayBuffer();
      statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
    }
    gateway.upstream.reset();
  }
  clearInterval(watch);
  expect([...statuses.keys()].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  // A body that waits for more than five seconds gets a 503, so a slow machine may serve the first one alone.
  expect(statuses.get(200) ?? 0).toBeGreaterThanOrEqual(1);
  expect(peak).toBeGreaterThan(100 * 1024 * 1024);
  expect(peak).toBeLessThan(residentMax);
});

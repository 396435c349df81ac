import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { newGate } from '../support/gate.ts';
import { type GatewayWithUpstream, startGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';
import { until } from '../support/until.ts';
import { replyLikeAProvider } from '../support/upstream/provider-replies.ts';

/** Two workspaces beside each other in one gateway process with little room. */
let gateway: GatewayWithUpstream;
/** Keys of the workspace that calls a provider that does not reply, and of the one beside it. */
let [loudKey, quietKey] = ['', ''];
let provider = newGate();
beforeAll(async () => {
  gateway = await startGatewayWithUpstream({
    env: { GATEWAY_PROCESSES: '1', REQUESTS_IN_FLIGHT_MAX: '32', BODY_MEMORY_MAX: String(8 * 1024 * 1024) },
  });
  loudKey = gateway.workspaceKey;
  const { id } = (await gateway.admin.post('/admin/workspaces', { name: 'quiet' })).body;
  const shared = { name: 'oai', slug: 'oai', integration_id: 'int-oai', workspace_id: id };
  expect((await gateway.admin.post('/providers', shared)).status).toBe(200);
  quietKey = (await gateway.admin.createKey({ workspace_id: id })).key;
  await until(async () => (await ask(quietKey, 'first').reply).status === 200, { what: 'the provider of the other workspace' });
});
afterAll(() => gateway?.close());
afterEach(() => {
  provider.open();
  gateway.upstream.reset();
});

function ask(key: string, content: string) {
  const abort = new AbortController();
  const body = { model: '@oai/gpt-5', messages: [{ role: 'user', content }] };
  return { reply: gateway.call('/chat/completions', { headers: { 'x-svc-api-key': key }, body, signal: abort.signal }), abort };
}

/** Makes the provider reply to texts that begin with `slow` only when the test opens the gate. Returns how many such calls have come. */
function stallSlowCalls(): () => number {
  provider = newGate();
  let count = 0;
  gateway.upstream.on('/v1/chat/completions', async (exchange) => {
    if (exchange.request.text.includes('"slow')) {
      count++;
      await provider.opened;
    }
    await replyLikeAProvider.run(exchange);
  });
  return () => count;
}

it('slow calls of one workspace leave places for another, and are served themselves', async () => {
  const stalled = stallSlowCalls();
  const open = Array.from({ length: 28 }, () => ask(loudKey, 'slow').reply);
  await until(() => stalled() === 28, { what: 'the calls at the provider' });
  const refused = await ask(loudKey, 'slow').reply;
  const { error } = await refused.json();
  expect([refused.status, error.code, refused.headers.get('retry-after')]).toEqual([503, 'overloaded', '1']);
  expect(error.message).toContain('REQUESTS_IN_FLIGHT_MAX');
  expect((await ask(quietKey, 'hello').reply).status).toBe(200);
  provider.open();
  for (const reply of await Promise.all(open)) expect(reply.status).toBe(200);
  expect((await ask(loudKey, 'hello').reply).status).toBe(200);
});

it('a workspace whose clients leave gets its places back', async () => {
  const stalled = stallSlowCalls();
  const open = Array.from({ length: 28 }, () => ask(loudKey, 'slow'));
  await until(() => stalled() === 28, { what: 'the calls at the provider' });
  expect((await ask(loudKey, 'hello').reply).status).toBe(503);
  for (const { abort, reply } of open) {
    abort.abort();
    await expect(reply).rejects.toThrow();
  }
  await until(async () => (await ask(loudKey, 'hello').reply).status === 200, { what: 'a free place' });
});

it('large bodies of one workspace leave memory for those of another', async () => {
  const stalled = stallSlowCalls();
  const text = 'a'.repeat(200_000);
  const open = Array.from({ length: 27 }, () => ask(loudKey, `slow ${text}`).reply);
  // The others wait until they are rejected, because the bodies at the provider are held.
  const settled = await Promise.all(open.map((reply) => Promise.race([reply, until(() => stalled() > 0).then(() => null)])));
  expect(settled).toContain(null);
  const large = await ask(quietKey, `hello ${text}`).reply;
  expect(large.status).toBe(200);
  provider.open();
  const statuses = (await Promise.all(open)).map((reply) => reply.status);
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
});

it('slow uploads to the control plane leave places for calls of models', async () => {
  const uploads = Array.from({ length: 30 }, () => {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(`POST /v1/configs HTTP/1.1\r\nhost: a\r\nx-svc-api-key: ${loudKey}\r\ncontent-length: 500000\r\n\r\n{"name":`);
    return socket;
  });
  const refused = uploads.map((socket) => once(socket, 'data').then(([bytes]) => String(bytes)));
  const first = await Promise.race(refused);
  expect(first).toMatch(/^HTTP\/1\.1 503 .*REQUESTS_IN_FLIGHT_MAX/s);
  expect((await ask(quietKey, 'hello').reply).status).toBe(200);
  for (const socket of uploads) socket.destroy();
  await until(async () => (await gateway.admin.get('/configs')).status === 200, { what: 'a free place' });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newReadyDatabase, ruleDatabases } from '../admin/support/test-database.ts';
import { type FreshReply, onFreshConnection } from '../support/clients/fresh-connection.ts';
import { embeds } from '../support/fakes/fake-embeddings.ts';
import { newGate } from '../support/gate.ts';
import { type GatewayWithUpstream, startGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';
import { until } from '../support/until.ts';

const chatPath = '/v1/chat/completions';
const embeddingsPath = '/v1/embeddings';

describe.each(ruleDatabases)('the semantic cache of two gateway processes, on %s', (name) => {
  let gateway: GatewayWithUpstream;
  let database: Awaited<ReturnType<typeof newReadyDatabase>> | null = null;
  beforeAll(async () => {
    database = name === 'PostgreSQL' ? await newReadyDatabase() : null;
    const url: Record<string, string> = database ? { DATABASE_URL: database.url } : {};
    const env = { GATEWAY_PROCESSES: '2', CACHE_STORE_TIMEOUT: '5000', SEMANTIC_CACHE_TIMEOUT: '10000', ...url };
    gateway = await startGatewayWithUpstream({ env: { ...env, SEMANTIC_CACHE_EMBEDDING_PROVIDER: 'oai' } });
    await until(() => gateway.pidsOf('gateway').length === 2, { what: 'two gateway processes' });
  });
  beforeEach(() => gateway.upstream.on(embeddingsPath, embeds));
  afterEach(() => gateway?.upstream.reset());
  afterAll(async () => {
    await gateway?.close();
    await database?.drop();
  });

  const config = { provider: '@oai', cache: { mode: 'semantic' } };
  const ask = (content: string, headers: Record<string, string> = {}, more: object = {}): Promise<FreshReply> =>
    onFreshConnection(gateway.origin + chatPath, {
      headers: { 'x-svc-api-key': gateway.workspaceKey, 'x-svc-config': JSON.stringify(config), ...headers },
      body: { model: 'm', messages: [{ role: 'user', content }], ...more },
    });
  const statusOf = ({ headers }: FreshReply) => headers['x-svc-cache-status'];
  const calls = (path = chatPath) => gateway.upstream.requests.filter((one) => one.path === path).length;
  /** Repeats the request until the reply is stored, because stores run in the background. */
  const asked = async (content: string, headers: Record<string, string> = {}, more: object = {}): Promise<void> => {
    await ask(content, headers, more);
    await until(async () => statusOf(await ask(content, headers, more)) === 'HIT', { what: 'the stored reply' });
  };

  it('serves a text of other words and the same meaning, and then the same text exactly', async () => {
    expect(statusOf(await ask('What is the capital of France?'))).toBe('SEMANTIC MISS');
    const similar = await until(async () => {
      const reply = await ask('Please tell me: what is the capital of France');
      return statusOf(reply) === 'SEMANTIC MISS' ? null : reply;
    });
    expect(statusOf(similar)).toBe('SEMANTIC HIT');
    const replies = await Promise.all(Array.from({ length: 10 }, () => ask('Please tell me: what is the capital of France')));
    expect(new Set(replies.map(statusOf))).toEqual(new Set(['HIT']));
    expect(calls()).toBe(1);
  });

  it('records the embedding as a call of its own, and the hit without usage', async () => {
    await asked('Which river flows through Vienna?');
    const reply = await ask('Tell me which river flows through Vienna');
    expect(statusOf(reply)).toBe('SEMANTIC HIT');
    const traceId = reply.headers['x-svc-trace-id'] as string;
    const logs = await until(async () => {
      const { body } = await gateway.admin.get(`/logs?trace_id=${traceId}`);
      return body.data.length === 2 && body.data;
    });
    const [own, hit] = logs[0].purpose ? logs : [logs[1], logs[0]];
    expect(own).toMatchObject({ purpose: 'semantic-cache', metrics: { mode: 'embed', ai_model: 'text-embedding-3-small' } });
    expect(own.metrics.req_units).toBeGreaterThan(0);
    expect(hit).toMatchObject({ purpose: null, metrics: { cache_status: 'SEMANTIC HIT', req_units: 0, cost: 0 } });
  });

  it.each([
    ['a number', 'List 3 facts about whales', 'List 4 facts about whales'],
    ['a negation', 'Is water safe to drink here?', 'Is water not safe to drink here?'],
    ['a name', 'Where was Ada Lovelace born?', 'Where was Ada Byron born?'],
  ])('never serves a text that differs in %s', async (_what, one, other) => {
    await asked(one);
    expect(statusOf(await ask(other))).toBe('SEMANTIC MISS');
  });

  it.each([
    ['another model', {}, { model: 'other' }],
    ['another parameter', {}, { temperature: 0.5 }],
    ['a namespace', { 'x-svc-cache-namespace': 'n' }, {}],
    ['other metadata', { 'x-svc-metadata': '{"team":"b"}' }, {}],
    ['other tools', {}, { tools: [{ type: 'function', function: { name: 'f', parameters: {} } }] }],
    [
      'another system text',
      {},
      {
        messages: [
          { role: 'system', content: 'be brief' },
          { role: 'user', content: 'Tell me how volcanoes erupt' },
        ],
      },
    ],
  ])('never serves a request with %s', async (_what, headers, more) => {
    await asked('How do volcanoes erupt?');
    expect(statusOf(await ask('Tell me how volcanoes erupt', headers, more))).toBe('SEMANTIC MISS');
  });

  it('never serves another workspace', async () => {
    await asked('Why is the sky blue?');
    const other = await gateway.admin.post('/admin/workspaces', { name: 'other' });
    expect(other.status).toBe(200);
    const id = other.body.id as string;
    const provider = { name: 'oai', slug: 'oai', integration_id: 'int-oai', workspace_id: id };
    expect((await gateway.admin.post('/providers', provider)).status).toBe(200);
    const { key } = await gateway.admin.createKey({ workspace_id: id });
    const reply = await until(async () => {
      const one = await ask('Tell me why the sky is blue', { 'x-svc-api-key': key });
      return one.status === 200 && one;
    });
    expect(statusOf(reply)).toBe('SEMANTIC MISS');
  });

  it('embeds the text of equal requests at the same time once', async () => {
    const gate = newGate();
    gateway.upstream.on(embeddingsPath, async (exchange) => {
      await gate.opened;
      embeds(exchange);
    });
    const replies = Array.from({ length: 20 }, () => ask('Are tomatoes fruits?'));
    await until(() => calls(embeddingsPath) > 0, { what: 'the embedding' });
    gate.open();
    for (const reply of await Promise.all(replies)) expect(reply.status).toBe(200);
    expect(calls(embeddingsPath)).toBe(1);
    expect(calls()).toBe(1);
  });

  it('is purged with its vectors', async () => {
    await asked('Do bees sleep?');
    expect((await gateway.admin.delete(`/admin/workspaces/${gateway.workspaceId}/cache`)).status).toBe(200);
    await until(async () => statusOf(await ask('Tell me: do bees sleep')) === 'SEMANTIC MISS', { what: 'the purge' });
  });

  it('goes on as a miss if the provider of embeddings fails', async () => {
    await asked('How deep is the sea?');
    gateway.upstream.on(embeddingsPath, ({ response }) => void response.writeHead(500).end());
    const failed = await ask('Tell me how deep the sea is');
    expect([failed.status, statusOf(failed)]).toEqual([200, 'SEMANTIC MISS']);
  });
});

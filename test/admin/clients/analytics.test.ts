import { Portkey } from 'portkey-ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleRecord } from '../../support/samples/sample-record.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { copied, recordStores, startPlaneOn } from '../support/record-stores.ts';
import { ruleDatabase } from '../support/test-database.ts';

const nowMs = Date.parse('2099-11-20T15:47:12.345Z');
const times = { time_of_generation_min: '2099-11-20', time_of_generation_max: '2099-11-21' };
/** Team, model, input tokens and status in the cache of each request. Costs are in proportion to the tokens. */
const requests = [
  ['red', 'gpt-4', 1_000, 'MISS'],
  ['blue', 'gpt-4.1-nano', 10, 'HIT'],
  ['blue', 'gpt-4.1-nano', 20, null],
  ['blue', 'gpt-4.1-nano', 30, 'SEMANTIC HIT'],
] as const;

/** Names and spellings that the clients of the known API send. */
describe.each(recordStores)('analytics for known clients, on %s', (store) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlaneOn(store, { clock: { now: () => nowMs, elapsed: () => performance.now() } });
    const { organisationId, workspaceId } = plane;
    const records = requests.map(([team, model, inputTokens, cacheStatus]) =>
      sampleRecord({
        ...{ organisationId, workspaceId, createdAt: new Date(nowMs - 1_000).toISOString(), metadata: { team } },
        ...{
          provider: 'openai',
          model,
          inputTokens,
          outputTokens: 0,
          cacheReadTokens: 0,
          cacheWriteTokens: 0,
          reasoningTokens: 0,
        },
        ...{ outcome: 'success', cacheStatus },
      }),
    );
    expect((await plane.internal('POST', '/records', records)).body).toMatchObject({ inserted: records.length, rejected: [] });
    if (store === 'ClickHouse') await copied(plane);
  });
  afterAll(() => plane?.close());

  it('cache_status selects requests by their status in the cache, in any case', async () => {
    const total = async (status: string) => (await read('graphs/requests', { cache_status: status })).summary.total;
    expect([await total('hit'), await total('SEMANTIC_HIT,miss'), await total('semantic hit')]).toEqual([1, 2, 1]);
  });

  it('order_by_type sorts groups in this direction', async () => {
    const models = async (order: object) =>
      (await read('groups/model', { order_by: 'total_tokens', ...order })).data.map(({ model }: { model: string }) => model);
    expect(await models({ order_by_type: 'asc' })).toEqual(['gpt-4.1-nano', 'gpt-4']);
    expect(await models({ order_by_type: 'desc' })).toEqual(['gpt-4', 'gpt-4.1-nano']);
    expect(await models({})).toEqual(['gpt-4', 'gpt-4.1-nano']);
  });

  it('order_by sorts groups of metadata', async () => {
    const teams = async (order: object) =>
      (await read('groups/metadata/team', order)).data.map((group: { metadata_value: string }) => group.metadata_value);
    expect(await teams({})).toEqual(['blue', 'red']);
    for (const name of ['cost', 'total_tokens', 'avg_tokens']) expect(await teams({ order_by: name })).toEqual(['red', 'blue']);
    expect(await teams({ order_by: 'cost', order: 'asc' })).toEqual(['blue', 'red']);
  });

  it('booleans may be written as Python writes them', async () => {
    expect(await read('groups/model', { include_total: 'True' })).toMatchObject({ total: 2 });
  });

  async function read(path: string, query: object) {
    const { status, body } = await plane.ask('GET', `/analytics/${path}?${new URLSearchParams({ ...times, ...query })}`);
    expect(status).toBe(200);
    return body;
  }
});

it('every graph of the JavaScript client has a route', async () => {
  const plane = await startPlane(ruleDatabase, { HEADER_PREFIX_ALIASES: 'x-portkey-' });
  try {
    const { graphs } = new Portkey({ baseURL: `${plane.url}/v1`, apiKey: plane.adminKey }).analytics;
    const names = Object.getOwnPropertyNames(Object.getPrototypeOf(graphs)).filter((name) => name !== 'constructor');
    expect(names).toHaveLength(17);
    for (const name of names) {
      const reply = await (graphs as unknown as Record<string, (query: object) => Promise<unknown>>)[name]?.(times);
      expect(reply, name).toMatchObject({ object: 'analytics-graph' });
    }
  } finally {
    await plane.close();
  }
});

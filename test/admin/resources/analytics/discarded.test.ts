import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rebuildDay } from '../../../../admin/analytics/rebuild-rollups.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { databases } from '../../support/test-database.ts';

const nowMs = Date.parse('2099-11-20T15:47:12.345Z');
const none = { cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const dear = {
  provider: 'openai',
  providerSlug: 'first',
  model: 'gpt-4',
  ...none,
  inputTokens: 1_000,
  outputTokens: 1_000,
  rawUsage: null,
};
const cheap = { provider: 'openai', providerSlug: 'second', model: 'gpt-4.1-nano' };
/** In cents: 1,000 tokens each at 30 and 60 USD per million, and 500 and 100 tokens at 0.10 and 0.40 USD. */
const expected = [
  { model: 'gpt-4', requests: 0, cost: 9, total_tokens: 2_000 },
  { model: 'gpt-4.1-nano', requests: 1, cost: 0.009, total_tokens: 600 },
];

describe.each(databases)('tokens and cost of responses that no client received, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database, {}, { clock: { now: () => nowMs, elapsed: () => performance.now() } });
    const { organisationId, workspaceId } = plane;
    const usage = { ...none, inputTokens: 1_500, outputTokens: 1_100, media: null, rawUsage: null };
    const record = sampleRecord({
      ...{ organisationId, workspaceId, createdAt: new Date(nowMs).toISOString(), metadata: { team: 'a' }, traceId: 'rated' },
      ...{ ...cheap, ...usage, outcome: 'success', cacheStatus: null, discarded: [dear] },
    });
    expect((await plane.internal('POST', '/records', [record])).body).toMatchObject({ inserted: 1, rejected: [] });
  });
  afterAll(() => plane?.close());

  const span = 'time_of_generation_min=2099-11-20T00:00:00Z&time_of_generation_max=2099-11-21T00:00:00Z';
  const read = async (more: string) => {
    const columns = 'columns=requests,cost,total_tokens,avg_tokens,p95_latency&order_by=avg_tokens&order=asc';
    const { body } = await plane.ask('GET', `/analytics/groups/model?${span}&${columns}${more}`);
    return body.data.toSorted((a: { cost: number }, b: { cost: number }) => b.cost - a.cost);
  };

  it('count under the model that used them', async () => {
    expect(await read('')).toMatchObject(expected);
  });

  it('count under that model in sums of the records themselves', async () => {
    expect(await read(`&metadata=${encodeURIComponent('{"team":"a"}')}`)).toMatchObject(expected);
    expect(await read(`&metadata=${encodeURIComponent('{"team":"a"}')}&ai_model=gpt-4`)).toMatchObject([expected[0]]);
  });

  it('are one request in totals', async () => {
    const { body } = await plane.ask('GET', `/analytics/graphs/cost?${span}`);
    expect(body.summary.total).toBeCloseTo(9.009, 6);
    const requests = await plane.ask('GET', `/analytics/graphs/requests?${span}`);
    expect(requests.body.summary.total).toBe(1);
  });

  it('count without a request in groups of metadata', async () => {
    const feedback = { key: plane.workspaceKey, body: { trace_id: 'rated', value: 5 } };
    expect((await plane.ask('POST', '/feedback', feedback)).status).toBe(200);
    const groups = async (more: string) => {
      const { status, body } = await plane.ask('GET', `/analytics/groups/metadata/team?${span}&order_by=avg_tokens${more}`);
      expect(status).toBe(200);
      return body.data;
    };
    const shared = { metadata_value: 'a', avg_weighted_feedback: 5 };
    const whole = [{ ...shared, requests: 1, avg_tokens: 2_600, requests_with_feedback: 1 }];
    expect(await groups('')).toMatchObject(whole);
    expect(await groups('&ai_model=gpt-4')).toMatchObject([{ ...shared, requests: 0, avg_tokens: 0, requests_with_feedback: 0 }]);
  });

  it('stay the same when roll-ups are written again', async () => {
    const em = plane.control.services.database.em();
    await rebuildDay(em, { fromMs: nowMs - 1, toMs: nowMs + 1 });
    expect(await read('')).toMatchObject(expected);
  });
});

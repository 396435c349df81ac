import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UsageSeries } from '../../../admin/telemetry/usage-series.ts';
import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';
import { until } from '../../support/until.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

const row = (changes: Partial<RequestRecord>, cost: number | null = 2_000_000) => ({
  ...{ record: sampleRecord(changes), cost, source: null },
});

it('usage metrics: add up requests, tokens and cost by provider', () => {
  const usage = new UsageSeries([], 10);
  usage.observe([row({ cacheReadTokens: 5 }), row({}), row({ provider: null, inputTokens: 0, outputTokens: 0 }, null)]);
  expect(usage.requests()).toEqual([
    { value: 2, labels: { provider: 'openai' } },
    { value: 1, labels: { provider: 'none' } },
  ]);
  expect(usage.tokens().slice(0, 2)).toEqual([
    { value: 245, labels: { provider: 'openai', type: 'input' } },
    { value: 90, labels: { provider: 'openai', type: 'output' } },
  ]);
  expect(usage.cost().map(({ value }) => value)).toEqual([0.004, 0]);
});

it('usage metrics: have the labels of METRICS_LABELS, and no other', () => {
  const usage = new UsageSeries(['model', 'metadata.team', 'key', 'model'], 10);
  usage.observe([row({}), row({ metadata: {}, apiKeyId: null })]);
  expect(usage.requests().map(({ labels }) => labels)).toEqual([
    { provider: 'openai', model: 'gpt-4o-mini', metadata_team: 'a', key: 'key-1' },
    { provider: 'openai', model: 'gpt-4o-mini', metadata_team: 'none', key: 'none' },
  ]);
});

it('usage metrics: count further combinations as other, and lose none', () => {
  const usage = new UsageSeries(['metadata.user'], 5);
  usage.observe(Array.from({ length: 100 }, (_, i) => row({ metadata: { user: `user-${i}` } })));
  expect(usage.requests()).toHaveLength(5);
  expect(usage.requests().at(-1)).toEqual({ value: 96, labels: { provider: 'other', metadata_user: 'other' } });
  expect(usage.cost().reduce((sum, { value }) => sum + value, 0)).toBeCloseTo(0.2);
});

it('usage metrics: a later record of a session counts the difference', () => {
  const usage = new UsageSeries([], 5);
  const [first] = [row({ outputTokens: 10 }, 1_000)];
  usage.observe([first as never]);
  usage.observe([
    { ...row({ outputTokens: 25 }, 3_000), before: { record: (first as ReturnType<typeof row>).record, cost: 1_000 } },
  ]);
  expect(usage.requests()[0]?.value).toBe(1);
  expect(usage.tokens()[1]?.value).toBe(25);
  expect(usage.cost()[0]?.value).toBeCloseTo(3e-6);
});

describe.each(ruleDatabases)('usage metrics, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database, { METRICS_LABELS: 'key_name' });
  });
  afterAll(() => plane?.close());

  it('have the names of API keys; keys without one count under their id', async () => {
    const body = { name: 'Billing "A"', scopes: ['completions.write'], workspace_id: plane.workspaceId };
    const { id } = (await plane.ask('POST', '/api-keys/workspace/service', { body })).body;
    const { organisationId, workspaceId } = plane;
    const of = (apiKeyId: string | null) => sampleRecord({ organisationId, workspaceId, apiKeyId });
    const records = [of(id), of(id), of('deleted-key'), of(null)];
    expect((await plane.internal('POST', '/records', records)).body).toMatchObject({ inserted: 4 });
    const counted = await until(
      async () => {
        const text = await (await fetch(`${plane.url}/metrics`)).text();
        const found = [...text.matchAll(/^svc_usage_requests_total\{.*?key_name="((?:[^"\\]|\\.)*)".*\} (\d+)$/gm)];
        return found.length === 3 && found.map(([, name, value]) => [name, value]);
      },
      { what: 'three series' },
    );
    expect(counted).toEqual([
      ['Billing \\"A\\"', '2'],
      ['deleted-key', '1'],
      ['none', '1'],
    ]);
  });
});

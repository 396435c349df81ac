import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repriceJob } from '../../../../admin/resources/repricings/reprice.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { until } from '../../../support/until.ts';
import { expectChange } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

interface Version {
  readonly effective_from: string | null;
  readonly pricing_config: { readonly pay_as_you_go: { readonly request_token: { readonly price: number } } };
}

describe.each(ruleDatabases)('repricing, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    // On the day of the records, so that housekeeping neither sums the day nor deletes its minutes in the middle of a test.
    const nowMs = Date.parse('2026-11-21T11:30:00Z');
    plane = await startPlane(database, {}, { clock: { now: () => nowMs, elapsed: () => performance.now() } });
    const integration = { name: 'O', slug: 'o', ai_provider_id: 'openai', key: 'sk-1' };
    expect((await plane.ask('POST', '/integrations', { body: integration })).status).toBe(200);
    expect((await plane.ask('POST', '/providers', { body: { name: 'P', slug: 'p', integration_id: 'o' } })).status).toBe(200);
    await setPrice(2);
  });
  afterAll(() => plane?.close());

  const setPrice = async (price: number, pricing_effective_from?: string) => {
    const pricing_config = { type: 'static', pay_as_you_go: { request_token: { price }, response_token: { price: 0 } } };
    const models = [{ slug: 'own', enabled: true, is_custom: true, pricing_config, pricing_effective_from }];
    expect((await plane.ask('PUT', '/integrations/o/models', { body: { models } })).status).toBe(200);
  };
  const budget = 'key/budget-1';
  const em = () => plane.control.services.database.em();
  const sums = async () => {
    const [records] = await em().execute<[{ cost: number }]>(
      'select sum(cost_micro_usd * 1000 + cost_nano_rest)::float8 as cost from request_records',
    );
    const rollups = await em().execute<{ grain: string; cost: number; requests: number }[]>(
      'select grain, sum(cost_nano)::float8 as cost, sum(requests)::float8 as requests from usage_rollups group by 1',
    );
    const [ledger] = await em().execute<[{ used: number }]>(
      'select (used * 1000 + used_nano_rest)::float8 as used from limit_budgets where key = ?',
      [budget],
    );
    return { records: records.cost, rollups, ledger: ledger?.used };
  };

  it('writes the differences to records, roll-ups and budgets, once, and only within the range', async () => {
    const record = (createdAt: string) =>
      sampleRecord({
        ...{ organisationId: plane.organisationId, workspaceId: plane.workspaceId, createdAt, metadata: { _user: 'ann' } },
        ...{ providerSlug: 'p', model: 'own', inputTokens: 1_000, outputTokens: 0 },
        reservations: [{ key: budget, lease: null, startMs: 5, units: 0 }],
      });
    await em().execute(
      `insert into limit_budgets (key, organisation_id, scope, entity_id, unit, start_ms, capacity, used, used_nano_rest)
       values (?, ?, 'key', 'k', 'cost', 5, 10000000000, 0, 0)`,
      [budget, plane.organisationId],
    );
    // More than one transaction of the job.
    const early = Array.from({ length: 50 }, () => record('2026-11-21T10:00:00.000Z'));
    const inside = Array.from({ length: 600 }, () => record('2026-11-21T11:00:00.000Z'));
    const outside = record('2026-11-22T10:00:00.000Z');
    expect((await plane.internal('POST', '/records', [...early, ...inside, outside])).body).toMatchObject({ inserted: 651 });
    const before = await sums();
    expect(before).toMatchObject({ records: 1_302_000_000, ledger: 1_302_000_000 });

    // A price of now changes nothing in the past. One that applies from the second half of the range changes that half.
    await setPrice(9);
    await setPrice(5, '2026-11-21T10:30:00+00:00');
    const body = { time_of_generation_min: '2026-11-21T00:00:00Z', time_of_generation_max: '2026-11-22T00:00:00Z' };
    const total = 600 * 5_000_000 + 51 * 2_000_000;
    for (const changed of [600, 0]) {
      const made = await expectChange(plane, () => plane.ask('POST', '/ledger/repricings', { body }), {
        ...{ resource: 'repricings', action: 'create', events: [] },
      });
      // A second run of the same job does no harm.
      const again = {
        key: made.body.id,
        organisationId: plane.organisationId,
        payload: {},
        signal: new AbortController().signal,
      };
      await repriceJob(plane.control.services)(again);
      const read = async () => (await plane.ask('GET', `/ledger/repricings/${made.body.id}`)).body;
      await until(async () => (await read()).status === 'success', { what: 'the end of the repricing' });
      expect(await read()).toMatchObject({
        ...{ records_read: 650, records_changed: changed, cost_difference: (changed * 3) / 10, finished_at: expect.any(String) },
      });
      const after = await sums();
      expect(after).toMatchObject({ records: total, ledger: total });
      for (const { cost, requests } of after.rollups) expect({ cost, requests }).toEqual({ cost: total, requests: 651 });
    }
  });

  it('a late record has the price of its time, and lists show the versions of a price', async () => {
    await setPrice(7, '2026-11-21T12:00:00Z');
    // The same price again is no new version.
    await setPrice(7);
    const [listed] = (await plane.ask('GET', '/integrations/o/models')).body.models.filter(
      ({ slug }: { slug: string }) => slug === 'own',
    );
    const versions = listed.pricing_versions.map(({ effective_from, pricing_config }: Version) => [
      effective_from,
      pricing_config.pay_as_you_go.request_token.price,
    ]);
    expect(versions).toEqual([
      [null, 2],
      ['2026-11-21T10:30:00.000Z', 5],
      ['2026-11-21T12:00:00.000Z', 7],
    ]);
    expect(listed.pricing_config.pay_as_you_go.request_token.price).toBe(7);
    const adjust = (factor: number, pricing_effective_from?: string) => {
      const pricing_adjustments = { multiplier: { default: factor } };
      return plane.ask('PUT', '/integrations/o', { body: { pricing_adjustments, pricing_effective_from } });
    };
    expect((await adjust(2)).status).toBe(200);
    expect((await adjust(3, '2026-11-21T11:00:00Z')).status).toBe(200);
    const costs: number[] = [];
    for (const time of ['10:29', '10:30', '11:59', '12:00']) {
      const one = sampleRecord({
        ...{ organisationId: plane.organisationId, workspaceId: plane.workspaceId, createdAt: `2026-11-21T${time}:00.000Z` },
        ...{ providerSlug: 'p', model: 'own', inputTokens: 1_000, outputTokens: 0 },
      });
      await plane.internal('POST', '/records', [one]);
      costs.push((await plane.ask('GET', `/logs/${one.id}`)).body.metrics.cost);
    }
    expect(costs).toEqual([0.4, 1, 1.5, 2.1]);
    const alone = { slug: 'own', enabled: true, pricing_effective_from: '2026-11-21T12:00:00Z' };
    expect(await plane.ask('PUT', '/integrations/o/models', { body: { models: [alone] } })).toMatchObject({
      ...{ status: 400, body: { data: { message: 'models[0].pricing_effective_from: needs pricing_config' } } },
    });
    expect(await plane.ask('PUT', '/integrations/o', { body: { pricing_effective_from: '2026-11-21T12:00:00Z' } })).toMatchObject(
      {
        ...{ status: 400, body: { data: { message: 'pricing_effective_from: needs pricing_adjustments' } } },
      },
    );
  });

  it('updates what of a record has no price, also if its cost stays', async () => {
    const price = async (pay_as_you_go: object, pricing_effective_from?: string) => {
      const pricing_config = { type: 'static', pay_as_you_go };
      const models = [{ slug: 'partial', enabled: true, is_custom: true, pricing_config, pricing_effective_from }];
      expect((await plane.ask('PUT', '/integrations/o/models', { body: { models } })).status).toBe(200);
    };
    await price({ request_token: { price: 2 } });
    const createdAt = '2026-11-20T08:00:00.000Z';
    const record = sampleRecord({
      ...{ organisationId: plane.organisationId, workspaceId: plane.workspaceId, createdAt, providerSlug: 'p', model: 'partial' },
      ...{ inputTokens: 1_000, outputTokens: 10 },
    });
    await plane.internal('POST', '/records', [record]);
    const metrics = async () => (await plane.ask('GET', `/logs/${record.id}`)).body.metrics;
    const { cost, ...first } = await metrics();
    expect(first).toMatchObject({ price_source: 'model', unpriced_units: ['response_token'] });
    await price({ request_token: { price: 2 }, response_token: { price: 0 } }, '2026-11-20T00:00:00Z');
    const body = { time_of_generation_min: '2026-11-20T00:00:00Z', time_of_generation_max: '2026-11-21T00:00:00Z' };
    const made = await plane.ask('POST', '/ledger/repricings', { body });
    await until(async () => (await plane.ask('GET', `/ledger/repricings/${made.body.id}`)).body.status === 'success', {
      what: 'the end of the repricing',
    });
    expect(await metrics()).toMatchObject({ cost, price_source: 'model', unpriced_units: [] });
  });

  it('rejects a range that ends before it begins', async () => {
    const body = { time_of_generation_min: '2026-11-22T00:00:00Z', time_of_generation_max: '2026-11-21T00:00:00Z' };
    const reply = await plane.ask('POST', '/ledger/repricings', { body });
    expect(reply).toMatchObject({ status: 400, body: { data: { message: expect.stringContaining('time_of_generation_max') } } });
  });
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grantLeases } from '../../../../admin/leases/ledger.ts';
import { verifyLedger } from '../../../../admin/resources/ledger-entries/verify-ledger.ts';
import type { RequestRecord } from '../../../../core/contract/plugin/record/record.ts';
import type { BudgetAsk } from '../../../../core/contract/protocol/limits/leases.ts';
import { randomFrom } from '../../../support/samples/random-from.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { until } from '../../../support/until.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { databases } from '../../support/test-database.ts';

describe.each(databases)('ledger entries, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const em = () => plane.control.services.database.em();
  const verify = () => verifyLedger(em(), { all: null, earlier: [] });
  const hourMs = 3_600_000;
  const firstMs = Date.parse('2026-11-21T00:00:00.000Z');

  /** A budget of one hour, in windows that begin on whole hours. */
  const newBudget = (unit: BudgetAsk['unit'], fields: Partial<BudgetAsk> = {}): BudgetAsk => ({
    ...{
      kind: 'budget',
      key: `budget:${randomUUID()}`,
      organisationId: plane.organisationId,
      scope: 'key',
      entityId: randomUUID(),
    },
    ...{ unit, capacity: 1e12, alertThreshold: null, need: 1, want: 1, lease: randomUUID(), seq: 1, startMs: 0, kept: 0 },
    ...{ periodicReset: null, periodicResetDays: null, nextUsageResetAt: null, resetAt: null, ...fields },
  });
  /** Starts the window of this hour by a reset, as the API does. */
  const startWindow = async (budget: BudgetAsk, hour: number): Promise<number> => {
    const atMs = firstMs + hour * hourMs;
    const ask = { ...budget, lease: randomUUID(), resetAt: new Date(atMs).toISOString() };
    const [grant] = await grantLeases(plane.control.services.database, [ask], atMs);
    return grant?.startMs ?? 0;
  };
  const newRecord = (changes: Partial<RequestRecord>): RequestRecord =>
    sampleRecord({
      ...{ organisationId: plane.organisationId, workspaceId: plane.workspaceId, providerSlug: null, apiKeyId: 'key-1' },
      ...changes,
    });
  const store = async (...records: RequestRecord[]) => {
    const { body } = await plane.internal('POST', '/records', records);
    expect(body.rejected).toEqual([]);
    return body;
  };
  const list = async (query: string, key?: string) =>
    (await plane.ask('GET', `/ledger/entries?${query}`, key ? { key } : {})).body;
  const session: RequestRecord['session'] = {
    ...{ messagesFromClient: 1, messagesFromProvider: 1, closeCode: null, closedBy: null },
  };

  it('each amount leads to its record, and each record to its amounts', async () => {
    const [cost, requests] = [newBudget('cost'), newBudget('requests', { scope: 'policy', valueKey: 'metadata._user:ann' })];
    const reservations = [];
    for (const budget of [cost, requests]) {
      const startMs = await startWindow(budget, 1);
      reservations.push({ key: budget.key, lease: budget.lease, startMs, units: 1 });
    }
    const rate = { key: 'rate:key:k:requests:rpm', lease: null, startMs: firstMs, units: 1 };
    const one = newRecord({ reservations: [...reservations, rate], createdAt: '2026-11-21T01:10:00.000Z' });
    const killed = newRecord({
      reservations: [{ key: cost.key, lease: cost.lease, startMs: firstMs + hourMs, units: 70 }],
      ...{ outcome: 'interrupted', createdAt: '2026-11-21T01:20:00.000Z', apiKeyId: 'key-2' },
    });
    await store(one, killed);
    const ids = (body: { data: { log_id: string; type: string }[] }) => body.data.map(({ log_id, type }) => `${log_id} ${type}`);
    const window = { window_started_at: '2026-11-21T01:00:00.000Z', is_current_window: true, object: 'ledger_entry' };
    const budgetId = cost.key.slice('budget:'.length);
    const ofBudget = await list(`budget_id=${budgetId}`);
    expect(ofBudget).toMatchObject({
      ...{ object: 'list', has_more: false, next_cursor: null },
      data: [
        { ...window, log_id: killed.id, type: 'cost', amount: 0.00007, outcome: 'interrupted', scope: 'key', value_key: null },
        { ...window, log_id: one.id, type: 'cost', amount: 0.000045, trace_id: one.traceId, entity_id: cost.entityId },
      ],
    });
    const log = (await plane.ask('GET', `/logs/${ofBudget.data[1].log_id}`)).body;
    expect(log.metrics.cost).toBe(0.0045);
    const ofRecord = await list(`log_id=${one.id}`);
    expect(new Set(ids(ofRecord))).toEqual(new Set([`${one.id} cost`, `${one.id} requests`]));
    for (const [query, expected] of [
      ['scope=policy', [`${one.id} requests`]],
      [`entity_id=${requests.entityId}`, [`${one.id} requests`]],
      ['value_key=metadata._user:ann', [`${one.id} requests`]],
      ['type=cost&api_key_ids=key-1', [`${one.id} cost`]],
      ['type=cost&time_of_generation_min=2026-11-21T01:15:00Z', [`${killed.id} cost`]],
      [`log_id=${randomUUID()}`, []],
    ] as const)
      expect([query, ids(await list(query))]).toEqual([query, expected]);
    const other = await plane.newTenant();
    expect(await list('', other.adminKey)).toMatchObject({ data: [] });
    const pages: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await list(`page_size=1${cursor}`);
      pages.push(...ids(page));
      if (!page.has_more) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(pages).toEqual(ids(await list('')));
    expect(pages.length).toBe(3);
  });

  it('budgets, entries, records and roll-ups are equal after random calls, sessions, late records, resets and repricing', async () => {
    const random = randomFrom(7);
    const upTo = (most: number) => Math.floor(random() * most) + 1;
    const budgets = [newBudget('cost'), newBudget('tokens'), newBudget('requests')];
    const windows = new Map(budgets.map(({ key }) => [key, [] as number[]]));
    const open: RequestRecord[] = [];
    for (let hour = 2; hour < 8; hour++) {
      for (const budget of budgets)
        if (hour === 2 || random() < 0.6) windows.get(budget.key)?.push(await startWindow(budget, hour));
      const reserve = (isLate: boolean): RequestRecord['reservations'] =>
        budgets.map(({ key, lease }) => {
          const known = windows.get(key) ?? [];
          const startMs = isLate ? (known[upTo(known.length) - 1] ?? 0) : (known.at(-1) ?? 0);
          return { key, lease: random() < 0.2 ? null : lease, startMs: random() < 0.2 ? 0 : startMs, units: upTo(50) };
        });
      const usage = () => ({ inputTokens: upTo(900), cacheReadTokens: upTo(9), outputTokens: upTo(300) });
      const batch = Array.from({ length: 30 }, () =>
        newRecord({
          ...{ createdAt: new Date(firstMs + hour * hourMs - upTo(2 * hourMs)).toISOString(), ...usage() },
          outcome: random() < 0.1 ? 'interrupted' : 'success',
          // Some models have no price.
          model: random() < 0.1 ? 'unknown-1' : 'gpt-4o-mini',
          reservations: reserve(random() < 0.3),
        }),
      );
      const begun = newRecord({ ...usage(), outcome: 'open', session, checkpoint: 1, reservations: reserve(false) });
      // Each open session goes on in the windows of this hour, or ends.
      const continued = open.splice(0).map((known): RequestRecord => {
        const { checkpoint, ...ended } = known;
        const more = {
          inputTokens: known.inputTokens + upTo(99),
          reservations: [...(known.reservations ?? []), ...(reserve(false) ?? [])],
        };
        return random() < 0.4
          ? { ...ended, ...more, outcome: 'success' }
          : { ...known, ...more, checkpoint: (checkpoint ?? 0) + 1 };
      });
      await store(...batch, begun, ...continued);
      await store(...batch.slice(0, 5), ...continued);
      open.push(begun, ...continued.filter(({ checkpoint }) => checkpoint !== undefined));
    }
    const expected = { differences: [], skipped: 0 };
    expect(await verify()).toMatchObject(expected);

    // The same calls to a model with another price.
    await em().execute(`update request_records set record = jsonb_set(record, '{model}', '"gpt-4o"')`);
    const range = { time_of_generation_min: '2026-11-21T00:00:00Z', time_of_generation_max: '2026-11-22T00:00:00Z' };
    const { id } = (await plane.ask('POST', '/ledger/repricings', { body: range })).body;
    const read = async () => (await plane.ask('GET', `/ledger/repricings/${id}`)).body;
    await until(async () => (await read()).status === 'success', { what: 'the end of the repricing' });
    expect((await read()).records_changed).toBeGreaterThan(100);
    expect(await verify()).toMatchObject(expected);

    // Every kind of difference is found.
    const key = budgets[0]?.key ?? '';
    await em().execute('update limit_budgets set used = used + 1 where key = ?', [key]);
    await em().execute('update limit_past_windows set amount = amount - 1 where key = ?', [budgets[1]?.key]);
    await em().execute(`update usage_rollups set requests = requests + 1 where grain = 'hour'`);
    await em().execute(`update limit_entries set amount = amount + 5 where record_id = ? and key = ?`, [open[0]?.id, key]);
    const found = (await verify()).differences.map(({ where }) =>
      where
        .replace(/[0-9a-f-]{36}/, '…')
        .split(' ')
        .slice(0, 3)
        .join(' '),
    );
    expect(new Set(found)).toEqual(new Set(['budget budget:…, window', 'roll-ups by hour', 'record …, budget']));
  });

  it('rejects invalid filters with their names', async () => {
    for (const query of ['cursor=abc', 'budget_id=1', 'scope=key,policy', 'type=money', 'prompt_slug=a']) {
      const reply = await plane.ask('GET', `/ledger/entries?${query}`);
      expect(reply).toMatchObject({
        status: 400,
        body: { data: { message: expect.stringContaining(query.split('=')[0] ?? '') } },
      });
    }
  });
});

import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grantLeases } from '../../../admin/leases/ledger.ts';
import { requestRecords } from '../../../admin/resources/logs/entity.ts';
import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import { budgetRules } from '../../../core/contract/protocol/limits/budget-rules.ts';
import type { BudgetAsk, Grant, LeaseAsk } from '../../../core/contract/protocol/limits/leases.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { databases } from '../support/test-database.ts';

/** Ahead of the real time, because a background job deletes windows that have ended. */
const nowMs = 4_000_000_020_000;

describe.each(databases)('the ledger of limits on %s', (name) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(name);
  });
  afterAll(() => plane.close());

  const grant = async (ask: LeaseAsk, atMs = nowMs): Promise<Grant> =>
    (await grantLeases(plane.control.services.database, [ask], atMs))[0] as Grant;

  const rateAsk = (key: string, fields: object = {}) => ({
    kind: 'rate' as const,
    key,
    organisationId: plane.organisationId,
    capacity: 100,
    need: 1,
    want: 1,
    lease: randomUUID(),
    seq: 1,
    kept: 0,
    startMs: nowMs,
    lengthMs: 60_000,
    ...fields,
  });
  const budgetAsk = (key: string, fields: Partial<BudgetAsk> = {}): BudgetAsk => ({
    kind: 'budget',
    key,
    organisationId: plane.organisationId,
    scope: 'workspace',
    entityId: plane.workspaceId,
    unit: 'tokens',
    alertThreshold: null,
    capacity: 1_000,
    need: 1,
    want: 1,
    lease: randomUUID(),
    seq: 1,
    startMs: 0,
    kept: 0,
    periodicReset: null,
    periodicResetDays: null,
    nextUsageResetAt: null,
    resetAt: null,
    ...fields,
  });
  const store = async (records: readonly Partial<RequestRecord>[]) => {
    const tenant = { organisationId: plane.organisationId, workspaceId: plane.workspaceId };
    const batch = records.map((fields) => ({ ...sampleRecord(), ...tenant, id: randomUUID(), ...fields }));
    const reply = await plane.internal('POST', '/records', batch);
    expect(reply.status).toBe(200);
    return { batch, reply };
  };
  const counts = (input: number, output: number) => ({
    inputTokens: input,
    outputTokens: output,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  });

  it('grants each unit of a window once, for concurrent requests', async () => {
    const ask = async (n: number) => (await grant(rateAsk('once', { need: (n % 3) + 1, want: 20 }))).units;
    const units = await Promise.all(Array.from({ length: 40 }, (_, n) => ask(n)));
    expect(units.reduce((sum, one) => sum + one, 0)).toBe(100);
  });

  it('grants smaller shares the less is left, and needed units first', async () => {
    const shares: number[] = [];
    for (let i = 0; i < 14; i++) shares.push((await grant(rateAsk('shares', { need: 1, want: 100 }))).units);
    expect(shares).toEqual([25, 19, 14, 11, 8, 6, 5, 3, 3, 2, 1, 1, 1, 1]);
    expect(await grant(rateAsk('needed', { need: 90, want: 90 }))).toMatchObject({ units: 90, remaining: 10 });
  });

  it('grants returned units again, and begins each window from zero', async () => {
    const lease = randomUUID();
    await grant(rateAsk('back', { lease, need: 100 }));
    expect((await grant(rateAsk('back'))).units).toBe(0);
    expect((await grant(rateAsk('back', { lease, seq: 2, need: 0, want: 0, kept: 70 }))).remaining).toBe(30);
    expect((await grant(rateAsk('back', { need: 40 }))).units).toBe(30);
    expect((await grant(rateAsk('back', { startMs: nowMs + 60_000, need: 40 }))).units).toBe(40);
  });

  it('counts units of a lost reply as not granted, and grants nothing to an outdated request', async () => {
    const lease = randomUUID();
    await grant(rateAsk('unheard-rate', { lease, need: 60 }));
    expect(await grant(rateAsk('unheard-rate', { lease, seq: 3, need: 70 }))).toMatchObject({ units: 70, remaining: 30 });
    expect(await grant(rateAsk('unheard-rate', { lease, seq: 2, need: 10 }))).toMatchObject({ units: 0, remaining: 30 });
  });

  it('returns unspent units of a window when a successor reports the end of their holder, once', async () => {
    const [holder, lease] = [randomUUID(), randomUUID()];
    const key = 'rate:ended';
    const ask = rateAsk(key, { lease, need: 60 });
    await grantLeases(plane.control.services.database, [ask], nowMs, holder);
    const used = (units: number, startMs = nowMs) => ({ ...counts(1, 1), reservations: [{ key, lease, startMs, units }] });
    await store([used(10), used(15), used(99, nowMs - 60_000)]);
    expect(await grant(rateAsk(key, { need: 0, want: 0 }))).toMatchObject({ remaining: 40 });
    for (let i = 0; i < 2; i++)
      await plane.internal('POST', '/leases', { holder: randomUUID(), asks: [], endedHolders: [holder] });
    expect(await grant(rateAsk(key, { need: 0, want: 0 }))).toMatchObject({ remaining: 75 });
  });

  it('settles the lease of each window for itself: usage of the last one frees no unit of this one', async () => {
    const [holder, lease] = [randomUUID(), randomUUID()];
    const key = 'rate:next';
    const next = { startMs: nowMs + 60_000 };
    const ask = (fields: object) =>
      grantLeases(plane.control.services.database, [rateAsk(key, { lease, ...fields })], nowMs, holder);
    await ask({ need: 60 });
    await store([{ ...counts(1, 1), reservations: [{ key, lease, startMs: nowMs, units: 25 }] }]);
    await ask({ ...next, seq: 2, need: 60 });
    await store([{ ...counts(1, 1), reservations: [{ key, lease, ...next, units: 10 }] }]);
    await plane.internal('POST', '/leases', { holder: randomUUID(), asks: [], endedHolders: [holder] });
    expect(await grant(rateAsk(key, { ...next, need: 0, want: 0 }))).toMatchObject({ remaining: 90 });
  });

  it('takes usage beyond its lease from the window of an ended holder', async () => {
    const [holder, lease] = [randomUUID(), randomUUID()];
    const key = 'rate:overdrawn';
    await grantLeases(plane.control.services.database, [rateAsk(key, { lease, need: 10, want: 10 })], nowMs, holder);
    await store([{ ...counts(1, 1), reservations: [{ key, lease, startMs: nowMs, units: 14 }] }]);
    for (let i = 0; i < 2; i++)
      await plane.internal('POST', '/leases', { holder: randomUUID(), asks: [], endedHolders: [holder] });
    expect(await grant(rateAsk(key, { need: 0, want: 0 }))).toMatchObject({ remaining: 86 });
  });

  it('accepts requests with unknown members', async () => {
    const newer = { newer: { a: 1 } };
    const left = [{ lease: randomUUID(), seq: 1, kept: 0, ...newer }];
    const asks = [
      { ...rateAsk('newer-rate', { need: 1 }), ...newer },
      { ...budgetAsk('newer-budget', { need: 1, left }), ...newer },
    ];
    const { status, body } = await plane.internal('POST', '/leases', { holder: randomUUID(), asks, ...newer });
    expect([status, body.grants.map((one: Grant) => one.key).sort()]).toEqual([200, ['newer-budget', 'newer-rate']]);
  });

  it('never grants more of a budget than there is, for concurrent requests', async () => {
    const asks = Array.from({ length: 20 }, () => grant(budgetAsk('many', { need: 70, want: 200 })));
    const units = (await Promise.all(asks)).map((one) => one.units);
    expect(units.reduce((sum, one) => sum + one, 0)).toBe(1_000);
  });

  it('replaces the reservation of a request by its usage, once', async () => {
    const lease = randomUUID();
    const { startMs } = await grant(budgetAsk('settled', { lease, need: 600 }));
    const reservations = [{ key: 'settled', lease, startMs, units: 500 }];
    const { batch } = await store([{ ...counts(100, 20), reservations }]);
    // 120 are used, and 100 of the lease are not settled.
    expect(await grant(budgetAsk('settled', { need: 0, want: 0 }))).toMatchObject({ remaining: 780 });
    const again = await plane.internal('POST', '/records', [...batch, ...batch]);
    expect(again.body).toMatchObject({ inserted: 0, duplicates: 2 });
    expect(await grant(budgetAsk('settled', { need: 0, want: 0 }))).toMatchObject({ remaining: 780 });
  });

  it('leaves the rest of a budget to others if a request used more than it took, and to its own process', async () => {
    const lease = randomUUID();
    const { startMs } = await grant(budgetAsk('overshoot', { lease, need: 10 }));
    await store([{ ...counts(880, 20), reservations: [{ key: 'overshoot', lease, startMs, units: 900 }] }]);
    expect(await grant(budgetAsk('overshoot', { need: 0, want: 0 }))).toMatchObject({ remaining: 100 });
    // 890 units are not in hand because they are used. They are not taken from the budget again.
    const own = await grant(budgetAsk('overshoot', { lease, seq: 2, startMs, kept: 10, need: 900, want: 900 }));
    expect(own).toMatchObject({ units: 900, remaining: 90 });
    expect(await grant(budgetAsk('overshoot', { lease, seq: 3, startMs, kept: 910, need: 0, want: 0 }))).toMatchObject({
      units: 0,
      remaining: 90,
    });
  });

  it('reports how much other processes hold, and how much of it they may still return', async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    const first = budgetAsk('recall', { lease: one, need: 600 });
    await grant(first);
    const ask = (seq: number, fields: object = {}) => budgetAsk('recall', { lease: two, seq, need: 500, ...fields });
    expect(await grant(ask(1), nowMs + 10)).toMatchObject({ units: 400, others: 600, pending: 600 });
    const { startMs } = await grant({ ...first, seq: 2, need: 0, want: 0, kept: 500, startMs: nowMs }, nowMs + 30);
    const again = { startMs, kept: 0, recalledMs: 30 };
    expect(await grant(ask(2, again), nowMs + 50)).toMatchObject({ units: 500, others: 500, pending: 0 });
  });

  it('counts the whole reservation of a call whose process was killed', async () => {
    const lease = randomUUID();
    const { startMs } = await grant(budgetAsk('interrupted', { lease, need: 600 }));
    const reservations = [{ key: 'interrupted', lease, startMs, units: 250 }];
    await store([{ ...counts(30, 0), outcome: 'interrupted', reservations }]);
    expect(await grant(budgetAsk('interrupted', { need: 0, want: 0 }))).toMatchObject({ remaining: 400 });
    await plane.control.services.database.em().execute('delete from limit_leases where lease = ?', [lease], 'run');
    expect(await grant(budgetAsk('interrupted', { need: 0, want: 0 }))).toMatchObject({ remaining: 750 });
  });

  it('stores and settles amounts that no column could hold, repeatedly', async () => {
    const lease = randomUUID();
    const { startMs } = await grant(budgetAsk('endless', { lease, need: 600 }));
    const reservations = [{ key: 'endless', lease, startMs, units: 1e11 }];
    const { reply } = await store([
      { ...counts(1e300, 1), reservations },
      { ...counts(1e300, 1), reservations },
    ]);
    expect(reply.body).toMatchObject({ inserted: 2, rejected: [] });
    expect(await grant(budgetAsk('endless', { need: 1 }))).toMatchObject({ units: 0, remaining: 0 });
  });

  it('keeps units of a silent process for a day at most', async () => {
    const lease = randomUUID();
    const { startMs, leaseMs } = await grant(budgetAsk('dead', { lease, need: 600 }));
    await store([{ ...counts(50, 0), reservations: [{ key: 'dead', lease, startMs, units: 50 }] }]);
    expect(leaseMs).toBe(86_400_000);
    expect(await grant(budgetAsk('dead', { need: 0, want: 0 }), nowMs + 86_399_999)).toMatchObject({ remaining: 400 });
    expect(await grant(budgetAsk('dead', { need: 0, want: 0 }), nowMs + 86_400_000)).toMatchObject({ remaining: 950 });
  });

  it('frees units of a process at once if its successor has shipped all its records', async () => {
    const [holder, lease] = [randomUUID(), randomUUID()];
    const [held] = await grantLeases(plane.control.services.database, [budgetAsk('ended', { lease, need: 600 })], nowMs, holder);
    const { startMs } = held as Grant;
    await store([{ ...counts(50, 0), reservations: [{ key: 'ended', lease, startMs, units: 50 }] }]);
    const other = await plane.internal('POST', '/leases', { holder: randomUUID(), asks: [], endedHolders: [randomUUID()] });
    expect(other.status).toBe(200);
    expect(await grant(budgetAsk('ended', { need: 0, want: 0 }))).toMatchObject({ remaining: 400 });
    await plane.internal('POST', '/leases', { holder: randomUUID(), asks: [], endedHolders: [holder] });
    expect(await grant(budgetAsk('ended', { need: 0, want: 0 }))).toMatchObject({ remaining: 950 });
  });

  it('keeps units of a former lease until its records arrive', async () => {
    const [lease, next] = [randomUUID(), randomUUID()];
    const { startMs } = await grant(budgetAsk('left', { lease, need: 600 }));
    // 250 of it were spent by requests whose records have not arrived.
    const left = [{ lease, seq: 2, kept: 250 }];
    expect(await grant(budgetAsk('left', { lease: next, need: 0, want: 0, left }))).toMatchObject({ remaining: 750 });
    const overtaken = [{ lease, seq: 1, kept: 600 }];
    expect(await grant(budgetAsk('left', { lease: next, seq: 2, need: 0, want: 0, left: overtaken }))).toMatchObject({
      remaining: 750,
    });
    await store([{ ...counts(230, 0), reservations: [{ key: 'left', lease, startMs, units: 250 }] }]);
    expect(await grant(budgetAsk('left', { need: 0, want: 0 }))).toMatchObject({ remaining: 770 });
  });

  it('reports a deleted lease to its holder, and does not count settled units again', async () => {
    const lease = randomUUID();
    const { startMs } = await grant(budgetAsk('forgotten', { lease, need: 100 }));
    await store([{ ...counts(100, 0), reservations: [{ key: 'forgotten', lease, startMs, units: 100 }] }]);
    await plane.control.services.database.em().execute('delete from limit_leases where lease = ?', [lease], 'run');
    const again = await grant(budgetAsk('forgotten', { lease, seq: 2, startMs, kept: 100, need: 50, want: 50 }));
    expect(again).toMatchObject({ isNew: true, units: 50, remaining: 850 });
  });

  it('counts a grant with a lost reply as not granted', async () => {
    const lease = randomUUID();
    await grant(budgetAsk('lost', { lease, need: 600 }));
    expect(await grant(budgetAsk('lost', { lease, seq: 2, need: 700 }))).toMatchObject({ units: 700, remaining: 300 });
  });

  it('counts no unit of the last window for a lease whose first grant in this one was lost', async () => {
    const [monthly, lease] = [{ periodicReset: 'monthly' as const }, randomUUID()];
    const { startMs, endMs } = await grant(budgetAsk('regained', { ...monthly, lease, need: 500 }));
    const ask = (seq: number) => budgetAsk('regained', { ...monthly, lease, seq, startMs, kept: 500, need: 100 });
    for (const seq of [2, 3]) expect(await grant(ask(seq), endMs as number)).toMatchObject({ units: 100, remaining: 900 });
    expect(await grant(budgetAsk('regained', { ...monthly, need: 0, want: 0 }), endMs as number)).toMatchObject({
      remaining: 900,
    });
  });

  it('grants nothing to an outdated request', async () => {
    const lease = randomUUID();
    await grant(budgetAsk('overtaken', { lease, seq: 2, need: 600 }));
    expect(await grant(budgetAsk('overtaken', { lease, seq: 1, need: 100 }))).toMatchObject({ units: 0, remaining: 400 });
    // The same request arrives twice.
    expect(await grant(budgetAsk('overtaken', { lease, seq: 2, need: 600 }))).toMatchObject({ units: 0, remaining: 400 });
  });

  it('restarts a budget when its period ends, and after a manual reset', async () => {
    const monthly = { periodicReset: 'monthly' as const };
    const first = await grant(budgetAsk('periods', { ...monthly, need: 1_000 }));
    expect(await grant(budgetAsk('periods', { ...monthly, need: 10 }))).toMatchObject({ units: 0 });
    const second = await grant(budgetAsk('periods', { ...monthly, need: 1_000 }), first.endMs as number);
    expect(second).toMatchObject({ units: 1_000, startMs: first.endMs });
    const resetMs = second.startMs + 5_000;
    const resetAt = new Date(resetMs).toISOString();
    const third = await grant(budgetAsk('periods', { ...monthly, resetAt, need: 10 }), resetMs + 1);
    expect(third).toMatchObject({ units: 10, startMs: resetMs, remaining: 990 });
    // Late records of a window that has ended do not count in this one.
    await store([{ ...counts(500, 0), reservations: [{ key: 'periods', lease: null, startMs: first.startMs, units: 0 }] }]);
    const now = await grant(budgetAsk('periods', { ...monthly, resetAt, need: 0, want: 0 }), resetMs + 2);
    expect(now).toMatchObject({ remaining: 990 });
  });

  it('counts usage during an outage, also of a budget without earlier requests', async () => {
    const budget = v.parse(budgetRules, budgetAsk('unheard'));
    const spent = [{ key: 'unheard', lease: null, startMs: 0, units: 0, budget }];
    await store([
      { ...counts(300, 0), reservations: spent },
      { ...counts(100, 0), reservations: spent },
    ]);
    expect(await grant(budgetAsk('unheard', { need: 0, want: 0 }))).toMatchObject({ remaining: 600 });
    // Before and after the first ask.
    await store([{ ...counts(50, 0), createdAt: '2026-01-01T00:00:00.000Z', reservations: spent }]);
    expect(await grant(budgetAsk('unheard', { need: 0, want: 0 }))).toMatchObject({ remaining: 550 });
  });

  it('counts usage during an outage in the window of its time', async () => {
    const at = (text: string): number => Date.parse(text);
    const monthly = { periodicReset: 'monthly' as const };
    const of = (createdAt: string, tokens: number) => ({
      ...counts(tokens, 0),
      createdAt,
      reservations: [{ key: 'late', lease: null, startMs: 0, units: 0 }],
    });
    await grant(budgetAsk('late', { ...monthly, need: 0, want: 0 }), at('2026-03-20T00:00:00Z'));
    // The March window is over when these arrive, and the May window has not been requested.
    await store([of('2026-03-30T00:00:00Z', 700), of('2026-05-02T00:00:00Z', 200), of('2026-04-30T00:00:00Z', 90)]);
    const now = await grant(budgetAsk('late', { ...monthly, need: 0, want: 0 }), at('2026-05-03T00:00:00Z'));
    expect(now).toMatchObject({ startMs: at('2026-05-01T00:00:00Z'), remaining: 800 });
    const past = await plane.control.services.database
      .em()
      .execute('select amount::int from limit_past_windows where key = ? order by start_ms', ['late']);
    expect(past).toEqual([{ amount: 790 }]);
    const reset = { ...monthly, resetAt: '2026-05-04T00:00:00.000Z' };
    await grant(budgetAsk('late', { ...reset, need: 0, want: 0 }), at('2026-05-05T00:00:00Z'));
    await store([of('2026-05-03T12:00:00Z', 40), of('2026-05-04T12:00:00Z', 7)]);
    expect(await grant(budgetAsk('late', { ...reset, need: 0, want: 0 }), at('2026-05-06T00:00:00Z'))).toMatchObject({
      remaining: 993,
    });
  });

  it('counts usage at a time in the future by a gateway’s clock in the current window', async () => {
    const monthly = { periodicReset: 'monthly' as const };
    const ask = () => grant(budgetAsk('ahead', { ...monthly, need: 0, want: 0 }), Date.now());
    const { startMs } = await ask();
    const createdAt = new Date(Date.now() + 40 * 86_400_000).toISOString();
    await store([{ ...counts(300, 0), createdAt, reservations: [{ key: 'ahead', lease: null, startMs: 0, units: 0 }] }]);
    expect(await ask()).toMatchObject({ startMs, remaining: 700 });
  });

  it('frees nothing of a new window if a session that began before it ends with less usage than recorded', async () => {
    const { startMs } = await grant(budgetAsk('less', { need: 0, want: 0 }));
    const session = { messagesFromClient: 1, messagesFromProvider: 1, closeCode: null, closedBy: null };
    const id = randomUUID();
    const of = (start: number) => [{ key: 'less', lease: null, startMs: start, units: 0 }];
    await store([{ id, session, outcome: 'open', checkpoint: 1, ...counts(100, 0), reservations: of(startMs) }]);
    const reset = { resetAt: new Date(nowMs + 5_000).toISOString(), need: 0, want: 0 };
    const next = await grant(budgetAsk('less', reset), nowMs + 6_000);
    const { reply } = await store([{ id, session, ...counts(60, 0), reservations: of(next.startMs) }]);
    expect(reply.body).toMatchObject({ rejected: [] });
    expect(await grant(budgetAsk('less', reset), nowMs + 7_000)).toMatchObject({ remaining: 1_000 });
  });

  it('counts a session once, however often it is recorded, and each of its leases for its own part', async () => {
    const [first, second, id] = [randomUUID(), randomUUID(), randomUUID()];
    const { startMs } = await grant(budgetAsk('session', { lease: first, need: 300 }));
    await grant(budgetAsk('session', { lease: second, need: 200 }));
    const session = { messagesFromClient: 1, messagesFromProvider: 1, closeCode: null, closedBy: null };
    const of = (lease: string, units: number) => ({ key: 'session', lease, startMs, units });
    const open = { id, session, outcome: 'open' as const };
    const one = { ...open, checkpoint: 1, ...counts(110, 0), reservations: [of(first, 100)] };
    const two = { ...open, checkpoint: 2, ...counts(350, 0), reservations: [of(first, 300), of(second, 50)] };
    const last = { id, session, ...counts(500, 10), reservations: [of(first, 300), of(second, 200)] };
    const left = async (): Promise<number> => (await grant(budgetAsk('session', { need: 0, want: 0 }))).remaining;
    await store([one]);
    expect(await left()).toBe(1_000 - 110 - 200 - 200);
    await store([two, one]);
    expect(await left()).toBe(1_000 - 350 - 150);
    await store([one]);
    await store([two, last]);
    expect(await left()).toBe(1_000 - 510);
    await store([two, last]);
    expect(await left()).toBe(1_000 - 510);
    const row = await plane.control.services.database.em().findOneOrFail(requestRecords, { id });
    expect(row).toMatchObject({ outcome: 'success', checkpoint: null });
  });

  it('rejects malformed requests, duplicate keys, and callers other than gateways', async () => {
    expect((await plane.internal('POST', '/leases', { asks: [{ kind: 'rate' }] })).status).toBe(400);
    const twice = await plane.internal('POST', '/leases', { asks: [rateAsk('twice'), rateAsk('twice')] });
    expect(twice.status).toBe(400);
    expect((await plane.internal('POST', '/leases', { asks: [] }, plane.workspaceKey)).status).toBe(401);
  });

  it('quotes the price that records are billed with, and none for an unknown model', async () => {
    const query = (model: string) => `/rates?workspace=${plane.workspaceId}&provider=openai&model=${model}`;
    const known = await plane.internal('GET', query('gpt-4o-mini'));
    expect(known.body.rates).toMatchObject({ input: 0.15, output: 0.6 });
    expect((await plane.internal('GET', query('nobody-knows'))).body).toEqual({ rates: null });
  });
});

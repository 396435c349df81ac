import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type Grant, type LeaseAsk, type LimitSpec, unavailable } from '../../../core/contract/protocol/limits/leases.ts';
import { startLeases } from '../../../core/leases/start-leases.ts';
import { firstHolder, newFakeLedger } from '../../support/fakes/fake-ledger.ts';
import { newFakeTime } from '../../support/fakes/fake-time.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { until } from '../../support/until.ts';

const organisationId = '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0001';
const budget: LimitSpec = {
  ...{ kind: 'budget', key: 'budget', organisationId, capacity: 40, scope: 'key', entityId: organisationId, unit: 'requests' },
  ...{ alertThreshold: null, periodicReset: null, periodicResetDays: null, nextUsageResetAt: null, resetAt: null },
};

it('asks of many limits share requests while two are on their way', async () => {
  const time = newFakeTime();
  const requests: { readonly keys: string[]; readonly reply: () => void }[] = [];
  const leases = startLeases({
    ...firstHolder,
    ...{ clock: time.clock, timers: time.timers, log: newMemoryLog(), newId: () => `0199a1b2-c3d4-7e5f-8a6b-${Date.now()}` },
    async fetch(_method, _path, body) {
      const { asks } = JSON.parse(Buffer.from(body as Uint8Array).toString()) as { asks: LeaseAsk[] };
      await new Promise<void>((reply) => requests.push({ keys: asks.map(({ key }) => key), reply }));
      const grants = asks.map(({ key }) => ({ key, startMs: 1, endMs: null, units: 5, remaining: 0, leaseMs: 300_000 }));
      return { status: 200, body: Buffer.from(JSON.stringify({ grants })) };
    },
  });
  const taken: unknown[] = [];
  for (let n = 0; n < 6; n++) {
    taken.push(leases.account({ ...budget, key: `budget-${n}` }).take(5, 5));
    for (let turn = 0; turn < 3; turn++) await nextTurn();
  }
  expect(requests.map(({ keys }) => keys)).toEqual([['budget-0'], ['budget-1']]);
  requests[1]?.reply();
  await until(() => requests.length === 3);
  expect(requests[2]?.keys).toEqual(['budget-2', 'budget-3', 'budget-4', 'budget-5']);
  requests[0]?.reply();
  requests[2]?.reply();
  expect(await Promise.all(taken)).toEqual([5, 5, 5, 5, 5, 5]);
});

it.each([
  ['is only slow if it has replied to another request meanwhile', true, 5],
  ['is not asked for a time after a failure', false, unavailable],
])('the ledger %s', async (_title, replies, expected) => {
  const time = newFakeTime();
  const requests: { readonly reply: () => void; readonly fail: () => void }[] = [];
  const leases = startLeases({
    ...firstHolder,
    ...{ clock: time.clock, timers: time.timers, log: newMemoryLog(), newId: () => `0199a1b2-c3d4-7e5f-8a6b-${Date.now()}` },
    async fetch(_method, _path, body) {
      const { asks } = JSON.parse(Buffer.from(body as Uint8Array).toString()) as { asks: LeaseAsk[] };
      await new Promise<void>((reply, reject) => requests.push({ reply, fail: () => reject(new Error('late')) }));
      const grants = asks.map(({ key }) => ({ key, startMs: 1, endMs: null, units: 5, remaining: 0, leaseMs: 300_000 }));
      return { status: 200, body: Buffer.from(JSON.stringify({ grants })) };
    },
  });
  const take = (key: string) => Promise.resolve(leases.account({ ...budget, key }).take(5, 5));
  const first = take('first');
  await until(() => requests.length === 1);
  const second = take('second');
  await until(() => requests.length === 2);
  time.advance(1);
  if (replies) {
    requests[1]?.reply();
    expect(await second).toBe(5);
  }
  requests[0]?.fail();
  expect(await first).toBe(unavailable);
  const third = take('third');
  if (replies) {
    await until(() => requests.length === 3);
    requests[2]?.reply();
  }
  expect(await third).toBe(expected);
});

it('a lease has one question to the ledger at a time: a second one would return the units that the first is being granted', async () => {
  const time = newFakeTime();
  const questions: { readonly ask: LeaseAsk; readonly reply: (grant: Partial<Grant>) => void }[] = [];
  let open = 0;
  let most = 0;
  const leases = startLeases({
    ...firstHolder,
    ...{ clock: time.clock, timers: time.timers, log: newMemoryLog(), newId: () => `0199a1b2-c3d4-7e5f-8a6b-${Date.now()}` },
    async fetch(_method, _path, body) {
      const { asks } = JSON.parse(Buffer.from(body as Uint8Array).toString()) as { asks: [LeaseAsk] };
      most = Math.max(most, ++open);
      const grant = await new Promise<Partial<Grant>>((reply) => questions.push({ ask: asks[0], reply }));
      open--;
      const usual = { key: 'budget', startMs: 1, endMs: null, units: 0, remaining: 0, leaseMs: 300_000 };
      return { status: 200, body: Buffer.from(JSON.stringify({ grants: [{ ...usual, ...grant }] })) };
    },
  });
  const taken = Promise.resolve(leases.account(budget).take(5, 5));
  await until(() => questions.length === 1);
  // Two of five units are free, and other processes hold some. The two are returned at once, and the five requested a little later.
  questions[0]?.reply({ units: 2, others: 10, pending: 10 });
  await until(() => questions.length === 2);
  expect(questions[1]?.ask).toMatchObject({ kept: 0, need: 0 });
  time.advance(500);
  // Questions are sent at the end of a turn.
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  questions[1]?.reply({ remaining: 5, others: 10, pending: 10 });
  await until(() => questions.length === 3);
  expect(questions[2]?.ask).toMatchObject({ kept: 0, need: 5 });
  questions[2]?.reply({ units: 5 });
  expect(await taken).toBe(5);
  expect(most).toBe(1);
});

it('units that calls expected while the ledger was away are not requested afterwards', async () => {
  const time = newFakeTime();
  const ledger = newFakeLedger();
  const leases = startLeases({
    ...firstHolder,
    ...{ clock: time.clock, timers: time.timers, log: newMemoryLog(), newId: randomUUID, fetch: ledger.fetch },
  });
  const [first, later] = ['first', 'later'].map((key) => leases.account({ ...budget, key, capacity: 1_000_000 }));
  ledger.isAway = true;
  for (let call = 0; call < 5; call++) {
    const taken = first?.take(1, 1);
    later?.prepare(100_000);
    expect(await taken).toBe(unavailable);
  }
  ledger.isAway = false;
  time.advance(1_000);
  expect(await later?.take(1, 1)).toBe(1);
  expect(ledger.asks.find(({ key }) => key === 'later')?.want).toBe(5_000);
});

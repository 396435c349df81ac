import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { LimitSpec } from '../../../core/contract/protocol/limits/leases.ts';
import { startLeases } from '../../../core/leases/start-leases.ts';
import { firstHolder, newFakeLedger } from '../../support/fakes/fake-ledger.ts';
import { newFakeTime } from '../../support/fakes/fake-time.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { until } from '../../support/until.ts';

const organisationId = '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0001';
const limit = (key: string): LimitSpec => ({ kind: 'rate', key, organisationId, capacity: 1_000, lengthMs: 86_400_000 });

function start() {
  const time = newFakeTime(1_800_000_000_000);
  const ledger = newFakeLedger();
  const { clock, timers } = time;
  const leases = startLeases({ fetch: ledger.fetch, clock, timers, log: newMemoryLog(), newId: randomUUID, ...firstHolder });
  /** Advances the clock until the units of all accounts are returned. */
  const returnAll = async () => {
    time.advance(2_500);
    await until(() => [...ledger.out.values()].every((units) => units === 0), { what: 'all units in the ledger' });
  };
  return { time, ledger, leases, returnAll };
}

it('leases: an account that was removed while unused returns its units when it is used again', async () => {
  const { time, ledger, leases, returnAll } = start();
  const account = leases.account(limit('rate:a'));
  const take = async () => {
    const units = await account.take(1, 1);
    account.put(units, account.startMs, account.lease);
  };
  await take();
  await returnAll();
  time.advance(700_000);
  await take();
  expect(ledger.out.get('rate:a')).toBeGreaterThan(0);
  await returnAll();
  expect(leases.account(limit('rate:a'))).toBe(account);
});

it('leases: units whose return failed are returned later, although no call needs more', async () => {
  const { time, ledger, leases, returnAll } = start();
  const account = leases.account(limit('rate:a'));
  account.put(await account.take(1, 1), account.startMs, account.lease);
  ledger.isAway = true;
  time.advance(2_500);
  await until(() => leases.counts.failures === 1, { what: 'a failed return' });
  expect(ledger.out.get('rate:a')).toBeGreaterThan(0);
  ledger.isAway = false;
  await returnAll();
});

it('leases: unused accounts are removed early if there are very many', async () => {
  const { time, leases, returnAll } = start();
  for (let n = 0; n <= 20_000; n++) leases.account(limit(`rate:${n}`));
  await returnAll();
  expect(leases.counts.accounts).toBe(20_001);
  time.advance(15_000);
  expect(leases.counts.accounts).toBe(0);
});

it('leases: a limit has one account as long as a meter holds it, because the ledger rejects two asks about a limit', async () => {
  const { time, leases, returnAll } = start();
  const account = leases.account(limit('rate:a'));
  account.put(await account.take(1, 1), account.startMs, account.lease);
  await returnAll();
  time.advance(700_000);
  expect(leases.account({ ...limit('rate:a'), capacity: 500 })).toBe(account);
  expect(account.spec.capacity).toBe(500);
});

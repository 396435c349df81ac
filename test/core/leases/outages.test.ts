import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { type LimitSpec, unavailable } from '../../../core/contract/protocol/limits/leases.ts';
import { startLeases } from '../../../core/leases/start-leases.ts';
import { firstHolder, newFakeLedger } from '../../support/fakes/fake-ledger.ts';
import { newFakeTime } from '../../support/fakes/fake-time.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';

const organisationId = '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0001';
const budget: LimitSpec = {
  ...{ kind: 'budget', key: 'budget', organisationId, capacity: 40, scope: 'key', entityId: organisationId, unit: 'requests' },
  ...{ alertThreshold: null, periodicReset: null, periodicResetDays: null, nextUsageResetAt: null, resetAt: null },
};

it('the log has one line at the beginning and one at the end of each outage of the ledger', async () => {
  const time = newFakeTime();
  const log = newMemoryLog();
  const ledger = newFakeLedger();
  const leases = startLeases({
    ...firstHolder,
    ...{ clock: time.clock, timers: time.timers, log, newId: randomUUID, fetch: ledger.fetch },
  });
  let asked = 0;
  const ask = async () => {
    time.advance(10_000);
    return leases.account({ ...budget, key: `budget-${asked++}` }).take(1, 1);
  };

  for (const _ of ['first', 'second']) {
    ledger.isAway = true;
    for (let n = 0; n < 3; n++) expect(await ask()).toBe(unavailable);
    ledger.isAway = false;
    expect(await ask()).toBe(1);
  }

  expect(log.lines.map(({ level, fields }) => ({ level, ...fields }))).toEqual([
    { level: 'warn', reason: 'the control plane replied with 503' },
    { level: 'info', failures: 3 },
    { level: 'warn', reason: 'the control plane replied with 503' },
    { level: 'info', failures: 3 },
  ]);
  await leases.close();
});

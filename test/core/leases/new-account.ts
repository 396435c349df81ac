import type { Grant, LimitSpec } from '../../../core/contract/protocol/limits/leases.ts';
import { Account } from '../../../core/leases/account.ts';
import { newFakeTime } from '../../support/fakes/fake-time.ts';

const organisationId = '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0001';
export const rate: Extract<LimitSpec, { kind: 'rate' }> = {
  kind: 'rate',
  key: 'rate',
  organisationId,
  capacity: 100,
  lengthMs: 60_000,
};
export const budget: Extract<LimitSpec, { kind: 'budget' }> = {
  kind: 'budget',
  key: 'budget',
  organisationId,
  capacity: 1_000,
  scope: 'key',
  entityId: organisationId,
  unit: 'tokens',
  alertThreshold: null,
  periodicReset: null,
  periodicResetDays: null,
  nextUsageResetAt: null,
  resetAt: null,
};

export function newAccount(spec: LimitSpec) {
  const time = newFakeTime(1_800_000_000_000);
  let woken = 0;
  let recalls = 0;
  let ids = 0;
  const delays: number[] = [];
  const account = new Account(spec, {
    clock: time.clock,
    newId: () => `lease-${++ids}`,
    wake(_account, delayMs) {
      woken++;
      delays.push(delayMs);
    },
    recall: () => void recalls++,
  });
  const grant = (units: number, rest: Partial<Grant> = {}): void =>
    account.granted({ key: spec.key, startMs: account.startMs, endMs: null, units, remaining: 50, leaseMs: null, ...rest });
  return { account, time, grant, delays, woken: () => woken, recalls: () => recalls };
}

import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import { WorkspacePolicies } from '../../../plugins/limits/policies.ts';
import type { PolicyCall } from '../../../plugins/limits/policy-values.ts';
import { leasesOnLedger } from './limits-harness.ts';

const callOf = (user: string): PolicyCall => ({
  ctx: { metadata: { user } } as unknown as RequestContext,
  target: null,
  providerId: null,
});

it('policies: a policy has at most 10,000 meters in memory, and a meter that is created again continues its counter', () => {
  const { leases } = leasesOnLedger();
  const conditions = [{ key: 'metadata.user', value: '*' }];
  const policy = { id: randomUUID(), conditions, groupBy: ['metadata.user'], type: 'requests', unit: 'rpd', value: 9 } as const;
  const document = { id: randomUUID(), organisationId: randomUUID(), usage: [], rate: [policy] };
  const policies = new WorkspacePolicies(leases, document as never, {} as never);
  const meterOf = (user: string) => policies.metersOf(callOf(user))[0];
  const first = meterOf('user 0');
  for (let n = 1; n < 10_000; n++) meterOf(`user ${n}`);
  expect(meterOf('user 0')).toBe(first);
  meterOf('user 10000');
  const again = meterOf('user 0');
  expect(again).not.toBe(first);
  expect(again?.account.key).toBe(first?.account.key);
});

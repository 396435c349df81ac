import type { Probe } from '../../support/refusal-suites.ts';

export const usageBody = {
  name: 'Per key',
  conditions: [{ key: 'api_key', value: '*' }],
  group_by: [{ key: 'api_key' }],
  type: 'cost',
  credit_limit: 10,
};
export const rateBody = {
  name: 'Per user',
  conditions: [{ key: 'metadata._user', value: '*' }],
  group_by: [{ key: 'metadata._user' }],
  type: 'requests',
  unit: 'rpm',
  value: 5,
};

/** Every route of an item of policies. */
export const itemProbes = (usageId: string, rateId: string): Probe[] => [
  { method: 'GET', path: `/policies/usage-limits/${usageId}` },
  { method: 'PUT', path: `/policies/usage-limits/${usageId}`, body: { name: 'Stolen' } },
  { method: 'GET', path: `/policies/usage-limits/${usageId}/entities` },
  { method: 'PUT', path: `/policies/usage-limits/${usageId}/entities/${usageId}/reset` },
  { method: 'DELETE', path: `/policies/usage-limits/${usageId}` },
  { method: 'GET', path: `/policies/rate-limits/${rateId}` },
  { method: 'PUT', path: `/policies/rate-limits/${rateId}`, body: { name: 'Stolen' } },
  { method: 'DELETE', path: `/policies/rate-limits/${rateId}` },
];

const anyId = '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f00aa';

/** Every route of policies. */
export const allProbes: Probe[] = [
  { method: 'GET', path: '/policies/usage-limits' },
  { method: 'POST', path: '/policies/usage-limits', body: usageBody },
  { method: 'GET', path: '/policies/rate-limits' },
  { method: 'POST', path: '/policies/rate-limits', body: rateBody },
  ...itemProbes(anyId, anyId),
];

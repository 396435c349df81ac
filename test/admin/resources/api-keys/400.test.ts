import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('rejected API keys, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const base = { name: 'k', scopes: ['completions.write'] };
  const service = '/api-keys/workspace/service';
  const cases: [string, string, unknown, string][] = [
    ['no scopes', service, { name: 'k' }, 'scopes: required'],
    ['an empty list of scopes', service, { name: 'k', scopes: [] }, 'scopes: at least one scope'],
    [
      'a scope that does not exist',
      service,
      { name: 'k', scopes: ['configs.list', 'configs.destroy'] },
      'scopes[1]: not a scope of',
    ],
    [
      'a scope of another type of key',
      service,
      { name: 'k', scopes: ['audit_logs.list'] },
      'scopes[0]: not a scope of workspace-service keys',
    ],
    [
      'calling models with an admin key',
      '/api-keys/organisation/service',
      base,
      'scopes[0]: not a scope of organisation-service keys',
    ],
    ['a user key without a user', '/api-keys/workspace/user', base, 'user_id: required'],
    [
      'a service key with a user',
      service,
      { ...base, user_id: '7f9c2d1e-0000-4000-8000-000000000001' },
      'user_id: only user keys',
    ],
    ['an expiry that is no time', service, { ...base, expires_at: 'tomorrow' }, 'expires_at: an ISO 8601 time'],
    [
      'a budget below a dollar',
      service,
      { ...base, usage_limits: { credit_limit: 0.5 } },
      'usage_limits.credit_limit: at least 1',
    ],
    [
      'a budget of half a token',
      service,
      { ...base, usage_limits: { type: 'tokens', credit_limit: 1.5 } },
      'usage_limits.credit_limit: a whole number is expected for tokens',
    ],
    [
      'an alert at the limit',
      service,
      { ...base, usage_limits: { credit_limit: 10, alert_threshold: 10 } },
      'usage_limits.alert_threshold: must be below credit_limit',
    ],
    [
      'two ways of resetting',
      service,
      { ...base, usage_limits: { credit_limit: 10, periodic_reset: 'weekly', periodic_reset_days: 3 } },
      'usage_limits.periodic_reset_days: not together',
    ],
    ['a budget without a number', service, { ...base, usage_limits: { type: 'cost' } }, 'usage_limits.credit_limit: required'],
    [
      'a unit of time nobody knows',
      service,
      { ...base, rate_limits: [{ type: 'requests', unit: 'rpy', value: 1 }] },
      'rate_limits[0].unit: ',
    ],
    [
      'the same rate limit twice',
      service,
      { ...base, rate_limits: Array(2).fill({ type: 'requests', unit: 'rpm', value: 1 }) },
      'rate_limits: the same type and unit twice',
    ],
    ['an address that is none', service, { ...base, alert_emails: ['nobody'] }, 'alert_emails[0]: an e-mail address'],
    [
      'a rotation without a time',
      service,
      { ...base, rotation_policy: {} },
      'rotation_policy: one of rotation_period, rotation_period_days',
    ],
    [
      'two cadences',
      service,
      { ...base, rotation_policy: { rotation_period: 'weekly', rotation_period_days: 3 } },
      'rotation_policy.rotation_period_days: not together',
    ],
    [
      'a transition that is too short',
      service,
      { ...base, rotation_policy: { rotation_period: 'weekly', key_transition_period_ms: 1_000 } },
      'rotation_policy.key_transition_period_ms: at least 1800000',
    ],
    ['metadata that is not text', service, { ...base, defaults: { metadata: { a: 1 } } }, 'defaults.metadata.a: expected string'],
  ];

  it.each(cases)('have an error that names the field: %s', async (_, path, body, start) => {
    const reply = await expectRefusal(plane, () => plane.ask('POST', path, { body }), 400, 'AB01', true);
    expect(reply.body.data.message.slice(0, start.length)).toBe(start);
  });

  it.each([
    ['status=gone', 'status: '],
    ['after=no-id', 'after: '],
    ['type=user', 'type: '],
    ['ids=1,2', 'ids: '],
  ])('API key lists: the filter %s is rejected', async (query, start) => {
    const reply = await expectRefusal(plane, () => plane.ask('GET', `/api-keys?${query}`), 400, 'AB01', false);
    expect(reply.body.data.message.slice(0, start.length)).toBe(start);
  });

  it('include a transition that is too short, and deleting the calling key', async () => {
    const all = (await plane.ask('GET', '/api-keys')).body.data as { id: string; type: string }[];
    const own = all.find((one) => one.type === 'organisation-service')?.id;
    const short = { key_transition_period_ms: 1_000 };
    await expectRefusal(plane, () => plane.ask('POST', `/api-keys/${own}/rotate`, { body: short }), 400, 'AB01', true);
    await expectRefusal(plane, () => plane.ask('DELETE', `/api-keys/${own}`), 400, 'AB01', true);
  });
});

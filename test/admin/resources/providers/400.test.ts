import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('rejected providers, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const cases: [string, unknown, string][] = [
    ['no name', { integration_id: 'mock' }, 'name: required'],
    ['neither integration nor provider', { name: 'x' }, 'integration_id: required, or provider with its key'],
    [
      'both an integration and a key',
      { name: 'x', integration_id: 'mock', key: 'sk-planted' },
      'key: credentials belong to the integration',
    ],
    ['another provider type than the integration is of', { name: 'x', integration_id: 'mock', provider: 'openai' }, 'provider: '],
    ['both spellings of a field', { name: 'x', integration_id: 'mock', integrationId: 'mock' }, 'integrationId: unknown key'],
    [
      'a budget without a number',
      { name: 'x', integration_id: 'mock', usage_limits: { type: 'cost' } },
      'usage_limits.credit_limit: required',
    ],
    [
      'an expiry in the past',
      { name: 'x', integration_id: 'mock', expires_at: '2001-01-01T00:00:00Z' },
      'expires_at: must be in the future',
    ],
    ['an inline setting of another provider', { name: 'x', provider: 'openai', awsRegion: 'x' }, 'awsRegion: unknown key'],
    ['a slug with an @', { name: 'x', integration_id: 'mock', slug: '@x' }, 'slug: letters, digits'],
  ];

  it.each(cases)('have an error that names the field: %s', async (_, body, start) => {
    const reply = await expectRefusal(plane, () => plane.ask('POST', '/providers', { body }), 400, 'AB01', true);
    expect(reply.body.data.message.slice(0, start.length)).toBe(start);
    expect(JSON.stringify(reply.body)).not.toContain('planted');
  });

  it('include a slug that is taken: 409, without a leftover integration', async () => {
    const before = (await plane.ask('GET', '/integrations')).body.total;
    const body = { name: 'x', slug: 'mock', provider: 'openai', key: 'sk-0123456789' };
    await expectRefusal(plane, () => plane.ask('POST', '/providers', { body }), 409, 'AB07', true);
    expect((await plane.ask('GET', '/integrations')).body.total).toBe(before);
  });
});

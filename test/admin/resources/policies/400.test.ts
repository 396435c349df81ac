import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { rateBody, usageBody } from './probes.ts';

describe.each(ruleDatabases)('policies: rejected bodies, on %s', (database) => {
  let plane: Plane;
  let usageId: string;
  let rateId: string;
  beforeAll(async () => {
    plane = await startPlane(database);
    usageId = (await plane.ask('POST', '/policies/usage-limits', { body: usageBody })).body.id;
    rateId = (await plane.ask('POST', '/policies/rate-limits', { body: rateBody })).body.id;
  });
  afterAll(() => plane?.close());

  const key = (name: string) => [{ key: name, value: '*' }];

  it.each([
    { problem: 'no conditions', sent: { conditions: undefined }, field: 'conditions' },
    { problem: 'empty conditions', sent: { conditions: [] }, field: 'conditions' },
    { problem: 'an unknown key', sent: { conditions: key('colour') }, field: 'conditions[0].key' },
    { problem: 'a metadata key without a name', sent: { conditions: key('metadata.') }, field: 'conditions[0].key' },
    { problem: 'a key of rate limits', sent: { conditions: key('endpoint_type') }, field: 'conditions[0].key' },
    { problem: 'a condition without value', sent: { conditions: [{ key: 'api_key' }] }, field: 'conditions[0]' },
    { problem: 'an empty value', sent: { conditions: [{ key: 'api_key', value: '' }] }, field: 'conditions[0].value' },
    { problem: 'an empty group', sent: { group_by: [] }, field: 'group_by' },
    { problem: 'a group with a key twice', sent: { group_by: [{ key: 'api_key' }, { key: 'api_key' }] }, field: 'group_by' },
    { problem: 'an unknown type', sent: { type: 'images' }, field: 'type' },
    { problem: 'an unknown target', sent: { target: 'servers' }, field: 'target' },
    {
      problem: 'the cost of tools',
      sent: { target: 'mcp_tools', conditions: key('mcp_tool') },
      field: 'type: calls of mcp_tools',
    },
    { problem: 'a key of tools for models', sent: { target: 'llm', conditions: key('mcp_tool') }, field: 'conditions[0].key' },
    { problem: 'less than a dollar', sent: { credit_limit: 0.5 }, field: 'credit_limit' },
    { problem: 'less than 100 tokens', sent: { type: 'tokens', credit_limit: 99 }, field: 'credit_limit' },
    { problem: 'less than one request', sent: { type: 'requests', credit_limit: 0 }, field: 'credit_limit' },
    { problem: 'parts of a request', sent: { type: 'requests', credit_limit: 1.5 }, field: 'credit_limit' },
    { problem: 'a threshold at the limit', sent: { alert_threshold: 10 }, field: 'alert_threshold' },
    {
      problem: 'two ways to reset',
      sent: { periodic_reset: 'weekly', periodic_reset_days: 3 },
      field: 'periodic_reset_days',
    },
    { problem: '366 days', sent: { periodic_reset_days: 366 }, field: 'periodic_reset_days' },
    { problem: 'a reset in the past', sent: { next_usage_reset_at: '2020-01-01T00:00:00Z' }, field: 'next_usage_reset_at' },
    { problem: 'a long description', sent: { description: 'x'.repeat(501) }, field: 'description' },
    { problem: 'an unknown field', sent: { colour: 'red' }, field: 'colour' },
  ])('a usage policy with $problem is rejected', async ({ sent, field }) => {
    const body = { ...usageBody, ...sent };
    const reply = await expectRefusal(plane, () => plane.ask('POST', '/policies/usage-limits', { body }), 400, 'AB01', true);
    expect(JSON.stringify(reply.body)).toContain(`${field}`);
  });

  it.each([
    { problem: 'value 0', sent: { value: 0 }, field: 'value' },
    { problem: 'parts of a request', sent: { value: 1.5 }, field: 'value' },
    { problem: 'an unknown unit', sent: { unit: 'rpy' }, field: 'unit' },
    { problem: 'cost', sent: { type: 'cost' }, field: 'type' },
    { problem: 'an unknown target', sent: { target: 'servers' }, field: 'target' },
    { problem: 'a key of tools', sent: { conditions: key('mcp_tool') }, field: 'conditions[0].key' },
    {
      problem: 'a key of models for tools',
      sent: { target: 'mcp_tools', conditions: key('mcp_tool'), group_by: [{ key: 'model' }] },
      field: 'group_by[0].key',
    },
  ])('a rate limit policy with $problem is rejected', async ({ sent, field }) => {
    const body = { ...rateBody, ...sent };
    const reply = await expectRefusal(plane, () => plane.ask('POST', '/policies/rate-limits', { body }), 400, 'AB01', true);
    expect(JSON.stringify(reply.body)).toContain(field);
  });

  it.each([
    { field: 'type', sent: { type: 'tokens' } },
    { field: 'group_by', sent: { group_by: [{ key: 'model' }] } },
    { field: 'reset_usage_for_value', sent: { reset_usage_for_value: 'api_key:none' } },
  ])('a change of $field of a usage policy is rejected', async ({ sent, field }) => {
    const path = `/policies/usage-limits/${usageId}`;
    const reply = await expectRefusal(plane, () => plane.ask('PUT', path, { body: sent }), 400, 'AB01', true);
    expect(JSON.stringify(reply.body)).toContain(`${field}:`);
  });

  it.each([
    { field: 'type', sent: { type: 'tokens' } },
    { field: 'target', sent: { target: 'mcp_tools' } },
    { field: 'group_by', sent: { group_by: [{ key: 'model' }] } },
  ])('a change of $field of a rate limit policy is rejected', async ({ sent, field }) => {
    const path = `/policies/rate-limits/${rateId}`;
    const reply = await expectRefusal(plane, () => plane.ask('PUT', path, { body: sent }), 400, 'AB01', true);
    expect(JSON.stringify(reply.body)).toContain(`${field}:`);
  });
});

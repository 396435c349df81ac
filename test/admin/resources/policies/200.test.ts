import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { rateBody, usageBody } from './probes.ts';

describe.each(ruleDatabases)('policies: accepted requests, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());
  const trace = (action: string, isFirst = false) => ({
    resource: 'policies',
    action,
    events: [`workspace-policies ${plane.workspaceId} upsert`, ...(isFirst ? [`workspace ${plane.workspaceId} upsert`] : [])],
  });
  const document = async (kind: string) => (await plane.internal('GET', `/documents/${kind}/${plane.workspaceId}`)).body.document;

  it('a usage policy is created, read, listed, changed and archived, and gateways load it', async () => {
    expect((await document('workspace')).hasPolicies).toBe(false);
    const body = {
      ...usageBody,
      ...{ description: 'd', conditions: [{ key: 'metadata.team', value: ['a', 'b'], excludes: 'c' }], alert_threshold: 8 },
      ...{ periodic_reset: 'weekly', workspace_id: plane.workspaceId },
    };
    const made = await expectChange(plane, () => plane.ask('POST', '/policies/usage-limits', { body }), trace('create', true));
    expect(made.body).toEqual({ id: expect.any(String), object: 'policy_usage_limits' });
    const path = `/policies/usage-limits/${made.body.id}`;
    const read = await plane.ask('GET', path);
    const { workspace_id, ...stored } = body;
    expect(read.body).toMatchObject({ ...stored, workspace_id, status: 'active', last_reset_at: null });
    // Mondays.
    expect(new Date(read.body.next_usage_reset_at).getUTCDay()).toBe(1);
    expect(read.body.next_usage_reset_at).toMatch(/T00:00:00\.000Z$/);
    expect((await plane.ask('GET', `/policies/usage-limits?workspace_id=${workspace_id}&search=PER`)).body).toEqual({
      object: 'list',
      total: 1,
      data: [read.body],
    });
    expect((await plane.ask('GET', '/policies/usage-limits?type=tokens')).body.total).toBe(0);
    expect(await document('workspace')).toMatchObject({ hasPolicies: true });
    expect((await document('workspace-policies')).usage).toEqual([
      {
        ...{ id: made.body.id, conditions: body.conditions, groupBy: ['api_key'], type: 'cost', target: null },
        ...{ creditLimit: 10 },
        ...{ alertThreshold: 8, periodicReset: 'weekly', periodicResetDays: null, nextUsageResetAt: null },
      },
    ]);
    const change = { credit_limit: 20, alert_threshold: null, next_usage_reset_at: '2099-05-05T15:30:00Z', type: 'cost' };
    await expectChange(plane, () => plane.ask('PUT', path, { body: change }), trace('update'));
    expect((await plane.ask('GET', path)).body).toMatchObject({
      ...change,
      next_usage_reset_at: '2099-05-05T00:00:00.000Z',
    });
    await expectChange(plane, () => plane.ask('DELETE', path), trace('delete'));
    expect((await plane.ask('GET', path)).status).toBe(404);
    expect((await plane.ask('PUT', path, { body: { name: 'x' } })).status).toBe(404);
    expect((await plane.ask('GET', `${path}?status=archived`)).body.status).toBe('archived');
    expect((await plane.ask('GET', `${path}/entities`)).body).toEqual({ object: 'list', total: 0, data: [] });
    expect((await plane.ask('GET', '/policies/usage-limits?status=archived')).body.total).toBe(1);
    expect((await document('workspace-policies')).usage).toEqual([]);
  });

  it('a rate limit policy is created, read, listed, changed and archived, and gateways load it', async () => {
    const made = await expectChange(plane, () => plane.ask('POST', '/policies/rate-limits', { body: rateBody }), trace('create'));
    const path = `/policies/rate-limits/${made.body.id}`;
    const read = await plane.ask('GET', path);
    expect(read.body).toMatchObject({ ...rateBody, target: 'llm', status: 'active' });
    expect((await plane.ask('GET', '/policies/rate-limits?unit=rpm&target=llm&type=requests')).body.data).toEqual([read.body]);
    await expectChange(plane, () => plane.ask('PUT', path, { body: { unit: 'rpw', value: 7 } }), trace('update'));
    expect((await document('workspace-policies')).rate).toEqual([
      {
        ...{ id: made.body.id, conditions: rateBody.conditions, groupBy: ['metadata._user'] },
        ...{ type: 'requests', unit: 'rpw', value: 7 },
      },
    ]);
    await expectChange(plane, () => plane.ask('DELETE', path), trace('delete'));
    expect((await document('workspace-policies')).rate).toEqual([]);
  });

  it('policies for tools and for agents are parts of their own in the document', async () => {
    const keys = { conditions: [{ key: 'mcp_server', value: 's' }], group_by: [{ key: 'mcp_tool' }] };
    const body = { ...rateBody, ...keys, target: 'mcp_tools' };
    const made = await plane.ask('POST', '/policies/rate-limits', { body: { ...body, type: 'requests' } });
    expect([made.status, made.headers.get('x-svc-unused-settings')]).toEqual([200, null]);
    const { rate, toolRate } = await document('workspace-policies');
    expect(rate).toEqual([]);
    expect(toolRate).toMatchObject([{ id: made.body.id, conditions: keys.conditions, groupBy: ['mcp_tool'] }]);
    expect((await plane.ask('GET', '/policies/rate-limits?target=mcp_tools')).body.total).toBe(1);
    const ofAgents = { conditions: [{ key: 'agent_server', value: 'travel' }], group_by: [{ key: 'api_key' }] };
    const sent = { body: { ...rateBody, ...ofAgents, type: 'tokens', target: 'agents' } };
    const { id } = (await plane.ask('POST', '/policies/rate-limits', sent)).body;
    expect((await document('workspace-policies')).agentRate).toMatchObject([{ id, conditions: ofAgents.conditions }]);
    expect((await plane.ask('GET', '/policies/rate-limits?target=agents')).body.total).toBe(1);
    const mixed = () => plane.ask('POST', '/policies/rate-limits', { body: { ...body, target: 'agents' } });
    const reply = await expectRefusal(plane, mixed, 400, 'AB01', true);
    expect(reply.body.data.message).toContain('conditions[0].key: mcp_server does not exist for the target agents');
  });

  it('a usage policy has a target or none, and is listed by it', async () => {
    const keys = { conditions: [{ key: 'mcp_server', value: 's' }], group_by: [{ key: 'mcp_tool' }] };
    const body = { ...usageBody, ...keys, type: 'requests', target: 'mcp_tools' };
    const { id } = (await plane.ask('POST', '/policies/usage-limits', { body })).body;
    const { body: listed } = await plane.ask('GET', '/policies/usage-limits?target=mcp_tools');
    expect(listed).toMatchObject({ total: 1, data: [{ id, target: 'mcp_tools' }] });
    const { usage } = await document('workspace-policies');
    expect(usage.find((one: { id: string }) => one.id === id)).toMatchObject({ target: 'mcp_tools', groupBy: ['mcp_tool'] });
    const path = `/policies/usage-limits/${id}`;
    expect((await plane.ask('PUT', path, { body: { target: 'mcp_tools', credit_limit: 20 } })).status).toBe(200);
    const other = () => plane.ask('PUT', path, { body: { target: 'llm' } });
    expect((await expectRefusal(plane, other, 400, 'AB01', true)).body.data.message).toContain('target: cannot be changed');
  });

  it.each([
    ['usage-limits', usageBody],
    ['rate-limits', rateBody],
  ])('%s: models that no call has are named in the reply', async (kind, body) => {
    const send = async (method: string, path: string, value: string | string[], excludes?: string | string[]) => {
      const conditions = [
        { key: 'provider', value: 'openai' },
        { key: 'model', value, ...(excludes && { excludes }) },
      ];
      const reply = await plane.ask(method, path, { body: method === 'PUT' ? { conditions } : { ...body, conditions } });
      expect(reply.status).toBe(200);
      return [reply.body.id, reply.headers.get('x-svc-unused-settings')];
    };
    const [id, none] = await send('POST', `/policies/${kind}`, ['@openai/gpt-5', '@openai/ft:a/*'], '@openai/*');
    expect(none).toBeNull();
    expect(await send('POST', `/policies/${kind}`, '*')).toEqual([expect.any(String), null]);
    const [, named] = await send('PUT', `/policies/${kind}/${id}`, ['@openai/gpt-5', 'gpt-5', '*'], 'gpt-4');
    expect(named).toBe('conditions[1].value[1], conditions[1].value[2], conditions[1].excludes');
    expect((await send('POST', `/policies/${kind}`, 'gpt-5'))[1]).toBe('conditions[1].value');
  });

  it('a condition on prompts has an effect', async () => {
    const conditions = [...usageBody.conditions, { key: 'prompt', value: 'greeting' }];
    const made = await plane.ask('POST', '/policies/usage-limits', { body: { ...usageBody, conditions } });
    expect([made.status, made.headers.get('x-svc-unused-settings')]).toEqual([200, null]);
  });

  it('a deleted workspace takes its policies along', async () => {
    const { id } = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Short' } })).body;
    const made = await plane.ask('POST', '/policies/usage-limits', { body: { ...usageBody, workspace_id: id } });
    expect(made.status).toBe(200);
    await plane.ask('DELETE', `/admin/workspaces/${id}`, { body: { name: 'Short', force_delete: true } });
    expect((await plane.ask('GET', `/policies/usage-limits/${made.body.id}`)).status).toBe(404);
  });
});

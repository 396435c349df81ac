import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { providers } from '../../../../admin/resources/providers/entity.ts';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('budgets of providers and of integrations in workspaces, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
    const body = { name: 'Org', slug: 'org', ai_provider_id: 'openai', key: 'sk-0123456789abcdef' };
    await plane.ask('POST', '/integrations', { body });
  });
  afterAll(() => plane?.close());

  const document = async (slug: string) =>
    (await plane.internal('GET', `/documents/provider/${plane.workspaceId}%2F${slug}`)).body.document;
  const update = (body: unknown) => () => plane.ask('PUT', '/providers/p', { body });

  it('are sent to gateways, in either spelling', async () => {
    const body = {
      name: 'P',
      slug: 'p',
      integrationId: 'org',
      usageLimits: { type: 'cost', creditLimit: 10, alertThreshold: 5, periodicReset: 'weekly' },
      rateLimits: [{ type: 'requests', unit: 'rpm', value: 0 }],
    };
    expect((await plane.ask('POST', '/providers', { body })).status).toBe(200);
    expect((await plane.ask('GET', '/providers/p')).body).toMatchObject({
      usage_limits: { type: 'cost', credit_limit: 10, alert_threshold: 5, periodic_reset: 'weekly' },
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 0 }],
    });
    expect(await document('p')).toMatchObject({
      usageLimits: { type: 'cost', creditLimit: 10 },
      rateLimits: [{ unit: 'rpm', value: 0 }],
      usageResetAt: null,
    });
  });

  it('become active again with a higher limit and a reset, and are cleared by null', async () => {
    const exhaust = () =>
      plane.control.services.database.em().nativeUpdate(providers, { slug: 'p' }, { exhaustedAt: new Date() });
    const status = async () => (await plane.ask('GET', '/providers/p')).body.status;
    await exhaust();
    expect(await status()).toBe('exhausted');
    expect((await document('p')).status).toBe('exhausted');
    await update({ usage_limits: { credit_limit: 9 } })();
    expect(await status()).toBe('exhausted');
    await update({ usage_limits: { credit_limit: 20 } })();
    expect(await status()).toBe('active');
    await exhaust();
    await update({ reset_usage: true })();
    expect(await status()).toBe('active');
    expect((await document('p')).usageResetAt).not.toBeNull();
    await update({ usage_limits: null, rate_limits: [] })();
    expect((await plane.ask('GET', '/providers/p')).body).toMatchObject({ usage_limits: null, rate_limits: null });
  });

  it('are validated', async () => {
    const issues: [unknown, string][] = [
      [{ usage_limits: { type: 'cost', credit_limit: 5, alert_threshold: 5 } }, 'usage_limits.alert_threshold'],
      [
        { usage_limits: { credit_limit: 5, periodic_reset: 'weekly', periodic_reset_days: 3 } },
        'usage_limits.periodic_reset_days',
      ],
      [{ rate_limits: [{ type: 'requests', unit: 'rpy', value: 1 }] }, 'rate_limits[0].unit'],
      [{ integration_id: 'mock' }, 'integration_id: cannot be changed'],
      [{ provider: 'anthropic' }, 'provider: cannot be changed'],
      [{ key: 'sk-other-0123456789' }, 'key: credentials belong to the integration'],
    ];
    for (const [body, start] of issues) {
      const reply = await expectRefusal(plane, update(body), 400, 'AB01', true);
      expect(reply.body.data.message.slice(0, start.length)).toBe(start);
    }
  });

  it('come from the integration in the workspace, else from its global access', async () => {
    const share = (body: unknown) => plane.ask('PUT', '/integrations/org/workspaces', { body });
    const own = {
      usage_limits: [{ type: 'tokens', credit_limit: 1_000 }],
      rate_limits: [{ type: 'tokens', unit: 'rph', value: 7 }],
    };
    expect((await share({ workspaces: [{ id: plane.workspaceId, enabled: true, ...own }] })).status).toBe(200);
    expect((await document('p')).integrationLimits).toMatchObject({
      usageLimits: { type: 'tokens', creditLimit: 1_000 },
      rateLimits: [{ value: 7 }],
      usageResetAt: null,
      status: 'active',
    });
    expect((await share({ workspaces: [{ id: plane.workspaceId, enabled: true, reset_usage: true }] })).status).toBe(200);
    expect((await document('p')).integrationLimits.usageResetAt).not.toBeNull();
    const list = (await plane.ask('GET', '/integrations/org/workspaces')).body;
    expect(list.workspaces[0]).toMatchObject({ usage_limits: [{ credit_limit: 1_000 }], last_reset_at: expect.any(String) });

    const all = { enabled: true, usage_limits: [{ type: 'cost', credit_limit: 3 }] };
    expect((await share({ global_workspace_access: all })).status).toBe(200);
    const third = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Third' } })).body.id;
    const there = (await plane.internal('GET', `/documents/provider/${third}%2Forg`)).body.document;
    expect(there.integrationLimits.usageLimits).toMatchObject({ type: 'cost', creditLimit: 3 });
    expect(there.integrationLimits.usageLimits.id).toContain(third);
    expect((await document('p')).integrationLimits.usageLimits.creditLimit).toBe(1_000);
    await share({ global_workspace_access: { enabled: true }, override_existing_workspace_access: true });
    expect((await document('p')).integrationLimits).toMatchObject({ usageLimits: { creditLimit: 3 }, rateLimits: [] });
    const two = { enabled: true, usage_limits: [all.usage_limits[0], all.usage_limits[0]] };
    expect((await share({ global_workspace_access: two })).status).toBe(400);
  });
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../admin/audit/entity.ts';
import { clearPassedBudgets, forgetOldWindows } from '../../../admin/leases/clean-ledger.ts';
import { grantLeases } from '../../../admin/leases/ledger.ts';
import { reportCrossedBudgets } from '../../../admin/leases/report-crossed-budgets.ts';
import type { BudgetAsk } from '../../../core/contract/protocol/limits/leases.ts';
import { type FakeMailServer, startFakeMailServer } from '../../support/fakes/fake-mail-server.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';
import { until } from '../../support/until.ts';
import { addPerson } from '../resources/api-keys/people.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('events of budgets, on %s', (name) => {
  let mail: FakeMailServer;
  let plane: Plane;
  beforeAll(async () => {
    mail = await startFakeMailServer();
    plane = await startPlane(name, { SMTP_URL: `smtp://127.0.0.1:${mail.port}`, SMTP_FROM: 'gateway@example.com' });
  });
  afterAll(async () => {
    await plane?.close();
    await mail.close();
  });

  /** Audit entries that the service itself wrote about the entity. */
  const entriesAbout = async (id: string) => {
    const em = plane.control.services.database.em();
    const rows = await em.find(auditEntries, { resourceId: id, userType: 'system' }, { orderBy: { seq: 'asc' } });
    return rows.map(({ action, resourceType, uri, requestBody }) => ({ action, resourceType, uri, ...(requestBody as object) }));
  };
  const reported = (id: string, number: number) =>
    until(async () => (await entriesAbout(id)).length === number, { what: `${number} audit entries about the budget` });

  const newHook = async (events: string[]) => {
    const body = { name: 'Hook', url: 'https://hooks.example.com/budgets', events, workspace_id: plane.workspaceId };
    return (await plane.ask('POST', '/webhooks', { body })).body.slug as string;
  };
  const deliveriesOf = async (slug: string): Promise<{ event: string; data: Record<string, unknown> }[]> =>
    (await plane.ask('GET', `/webhooks/${slug}/deliveries?workspace_id=${plane.workspaceId}`)).body.data;

  async function newKey(fields: object): Promise<{ id: string; budget: string }> {
    const body = { name: 'night job', workspace_id: plane.workspaceId, scopes: ['completions.write'], ...fields };
    const { id } = (await plane.ask('POST', '/api-keys/workspace/service', { body })).body;
    const shown = (await plane.ask('GET', `/api-keys/${id}`)).body;
    return { id, budget: shown.usage_limits.id };
  }

  function ask(key: { id: string; budget: string }, fields: Partial<BudgetAsk> = {}): BudgetAsk {
    return {
      kind: 'budget',
      key: `budget:${key.budget}`,
      organisationId: plane.organisationId,
      scope: 'key',
      entityId: key.id,
      unit: 'tokens',
      alertThreshold: 500,
      capacity: 1_000,
      need: 1,
      want: 1,
      lease: randomUUID(),
      seq: 1,
      startMs: 0,
      kept: 0,
      periodicReset: 'weekly',
      periodicResetDays: null,
      nextUsageResetAt: null,
      resetAt: null,
      ...fields,
    };
  }

  const grant = (one: BudgetAsk, nowMs: number) => grantLeases(plane.control.services.database, [one], nowMs);

  const use = (key: { budget: string }, tokens: number) =>
    plane.internal('POST', '/records', [
      {
        ...sampleRecord({ createdAt: new Date().toISOString() }),
        organisationId: plane.organisationId,
        workspaceId: plane.workspaceId,
        ...{ inputTokens: tokens, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
        reservations: [{ key: `budget:${key.budget}`, lease: null, startMs: 0, units: 0 }],
      },
    ]);

  it('are one audit entry, one delivery and one mail each for the threshold and for the end', async () => {
    const owner = await addPerson(plane);
    const hooks = [await newHook(['budget.threshold', 'budget.exhausted']), await newHook(['policy.exhausted'])];
    const limits = { type: 'tokens', credit_limit: 1_000, alert_threshold: 500, periodic_reset: 'weekly' };
    const key = await newKey({ usage_limits: limits, alert_emails: ['team@example.com'] });
    const read = async () => (await plane.ask('GET', `/api-keys/${key.id}?include_usage=true`)).body;
    await grant(ask(key), Date.now());

    await use(key, 400);
    expect((await read()).usage_limits).toMatchObject({ current_usage: 400, status: 'active', is_threshold_alerts_sent: false });
    await use(key, 200);
    await reported(key.id, 1);
    await use(key, 500);
    await reported(key.id, 2);
    await use(key, 10);
    expect(await read()).toMatchObject({ status: 'exhausted', usage_limits: { current_usage: 1_110, status: 'exhausted' } });
    expect((await plane.ask('GET', '/api-keys?status=exhausted')).body.data).toHaveLength(1);

    const facts = { budget_of: 'api_key', id: key.id, slug: null, name: 'night job', type: 'tokens', credit_limit: 1_000 };
    const entry = { resourceType: 'api_keys', uri: `/v1/api-keys/${key.id}`, ...facts, alert_threshold: 500 };
    expect(await entriesAbout(key.id)).toEqual([
      { action: 'threshold', ...entry, current_usage: 600 },
      { action: 'exhausted', ...entry, current_usage: 1_100 },
    ]);
    const [subscribed, others] = await Promise.all(hooks.map(deliveriesOf));
    expect(subscribed?.map(({ event, data }) => [event, data.id, data.current_usage]).sort()).toEqual([
      ['budget.exhausted', key.id, 1_100],
      ['budget.threshold', key.id, 600],
    ]);
    expect(others).toEqual([]);
    const [threshold, exhausted] = [await mail.arrived('team@example.com'), await mail.arrived('team@example.com', 2)];
    expect(threshold.text).toMatch(/^Subject: .*has_crossed_its_threshold/m);
    expect(threshold.text).toContain('600 of 1000 tokens are used.');
    expect(exhausted.text).toMatch(/^Subject: .*is_exhausted/m);
    expect(mail.lettersTo('team@example.com')).toHaveLength(2);
    expect(mail.lettersTo(`${owner}@example.com`)).toEqual([]);
  });

  it('are repeated after the limit was raised, and not before the new limit is reached', async () => {
    const limits = { type: 'tokens', credit_limit: 1_000, alert_threshold: 500 };
    const key = await newKey({ usage_limits: limits });
    const read = async () => (await plane.ask('GET', `/api-keys/${key.id}?include_usage=true`)).body;
    await grant(ask(key), Date.now());
    await use(key, 1_000);
    await reported(key.id, 2);

    await plane.ask('PUT', `/api-keys/${key.id}`, { body: { usage_limits: { credit_limit: 3_000, alert_threshold: 2_000 } } });
    await grant(ask(key, { capacity: 3_000, alertThreshold: 2_000 }), Date.now());
    expect(await read()).toMatchObject({ status: 'active', usage_limits: { status: 'active', is_threshold_alerts_sent: false } });
    await use(key, 500);
    expect(await entriesAbout(key.id)).toHaveLength(2);
    await use(key, 500);
    await reported(key.id, 3);
    await use(key, 1_000);
    await reported(key.id, 4);
    expect((await entriesAbout(key.id)).map(({ action }) => action)).toEqual([
      'threshold',
      'exhausted',
      'threshold',
      'exhausted',
    ]);
  });

  it('report a budget as exhausted if it rejects usual calls because less is left', async () => {
    const key = await newKey({ usage_limits: { type: 'tokens', credit_limit: 1_000 } });
    const read = async () => (await plane.ask('GET', `/api-keys/${key.id}?include_usage=true`)).body;
    const one = ask(key, { alertThreshold: null });
    const [first] = await grant(one, Date.now());
    await use(key, 990);
    const reject = (units: number, seq: number) => {
      const returned = { ...one, need: 0, want: 0, startMs: first?.startMs, seq, refused: units };
      return plane.internal('POST', '/leases', { asks: [returned] });
    };
    // An amount that is left, and more than a quarter of the limit.
    await reject(5, 2);
    await reject(300, 3);
    expect((await read()).status).toBe('active');
    await reject(100, 4);
    await reported(key.id, 1);
    expect(await entriesAbout(key.id)).toMatchObject([{ action: 'exhausted', current_usage: 990, credit_limit: 1_000 }]);
    expect(await read()).toMatchObject({ status: 'exhausted', usage_limits: { current_usage: 990, status: 'exhausted' } });

    await plane.ask('PUT', `/api-keys/${key.id}`, { body: { usage_limits: { credit_limit: 2_000 } } });
    expect(await read()).toMatchObject({ status: 'active', usage_limits: { current_usage: 990, status: 'active' } });
  });

  it.each([500, 100])(
    'report a budget as exhausted whose limit was lowered to its usage of %i or below, when it rejects a call',
    async (used) => {
      const key = await newKey({ usage_limits: { type: 'tokens', credit_limit: 1_000 } });
      await grant(ask(key, { alertThreshold: null }), Date.now());
      await use(key, used);
      await plane.ask('PUT', `/api-keys/${key.id}`, { body: { usage_limits: { credit_limit: 100 } } });
      const rejected = ask(key, { alertThreshold: null, capacity: 100, need: 0, want: 0, refused: 90 });
      await plane.internal('POST', '/leases', { asks: [rejected] });
      await plane.internal('POST', '/leases', { asks: [{ ...rejected, seq: 2 }] });
      await reported(key.id, 1);
      expect(await entriesAbout(key.id)).toMatchObject([{ action: 'exhausted', current_usage: used, credit_limit: 100 }]);
      expect((await plane.ask('GET', `/api-keys/${key.id}`)).body.status).toBe('exhausted');
      const listed = (await plane.ask('GET', '/api-keys?status=exhausted')).body.data as { id: string }[];
      expect(listed.map(({ id }) => id)).toContain(key.id);
    },
  );

  it('count anew if the type of the budget changes, because tokens are not dollars', async () => {
    const key = await newKey({ usage_limits: { type: 'tokens', credit_limit: 1_000 } });
    await grant(ask(key, { alertThreshold: null }), Date.now());
    await use(key, 1_000);
    const body = { usage_limits: { type: 'cost', credit_limit: 5 } };
    expect((await plane.ask('PUT', `/api-keys/${key.id}`, { body })).status).toBe(200);
    const { usage_limits } = (await plane.ask('GET', `/api-keys/${key.id}?include_usage=true`)).body;
    expect(usage_limits).toMatchObject({ type: 'cost', current_usage: 0, status: 'active' });
    expect(usage_limits.id).not.toBe(key.budget);
  });

  const reportNow = () => {
    const { database, auditKey } = plane.control.services;
    return reportCrossedBudgets(database.em(), auditKey, async () => {});
  };

  it('are not about a budget that was replaced while its calls were in progress, nor is its owner exhausted', async () => {
    const key = await newKey({ usage_limits: { type: 'tokens', credit_limit: 1_000, alert_threshold: 500 } });
    const status = async () => (await plane.ask('GET', `/api-keys/${key.id}`)).body.status;
    await grant(ask(key), Date.now());
    await plane.ask('PUT', `/api-keys/${key.id}`, {
      body: { usage_limits: { type: 'cost', credit_limit: 5, alert_threshold: 2 } },
    });
    await use(key, 1_000);
    await reportNow();
    expect([await entriesAbout(key.id), await status()]).toEqual([[], 'active']);
  });

  it('end the state of an owner whose exhausted budget is replaced by one of another type', async () => {
    const key = await newKey({ usage_limits: { type: 'tokens', credit_limit: 1_000 } });
    const status = async () => (await plane.ask('GET', `/api-keys/${key.id}`)).body.status;
    await grant(ask(key, { alertThreshold: null }), Date.now());
    await use(key, 1_000);
    expect(await status()).toBe('exhausted');
    await plane.ask('PUT', `/api-keys/${key.id}`, { body: { usage_limits: { type: 'cost', credit_limit: 5 } } });
    expect(await status()).toBe('active');
  });

  it('wait for raised limits, also if a process that does not know them yet asks in between', async () => {
    const key = await newKey({ usage_limits: { type: 'tokens', credit_limit: 1_000, alert_threshold: 500 } });
    const status = async () => (await plane.ask('GET', `/api-keys/${key.id}`)).body.status;
    await plane.ask('PUT', `/api-keys/${key.id}`, { body: { usage_limits: { credit_limit: 3_000, alert_threshold: 2_000 } } });
    const raised = ask(key, { capacity: 3_000, alertThreshold: 2_000 });
    await grant(raised, Date.now());
    await grant(ask(key), Date.now());
    await use(key, 1_000);
    await reportNow();
    expect([await entriesAbout(key.id), await status()]).toEqual([[], 'active']);
    await grant({ ...raised, seq: 2 }, Date.now());
    await use(key, 2_000);
    await reported(key.id, 2);
    expect(await status()).toBe('exhausted');
  });

  it('are not repeated while usage is a part of a unit below the threshold', async () => {
    const key = await newKey({ usage_limits: { type: 'cost', credit_limit: 5, alert_threshold: 2 } });
    const one = ask(key, { unit: 'cost', capacity: 5_000_000, alertThreshold: 2_000_000 });
    await grant(one, Date.now());
    const em = plane.control.services.database.em();
    await em.execute(
      `update limit_budgets set used = 1999999, used_nano_rest = 1, threshold_crossed_at = now(), threshold_told_at = now() where key = ?`,
      [one.key],
    );
    await grant({ ...one, seq: 2 }, Date.now());
    const [row] = await em.execute('select threshold_told_at from limit_budgets where key = ?', [one.key]);
    expect(row.threshold_told_at).not.toBeNull();
  });

  it('are published before the audit chain is locked, because changes of webhooks lock it last', async () => {
    const keys = await Promise.all(
      [1, 2].map(() => newKey({ usage_limits: { type: 'tokens', credit_limit: 1_000, alert_threshold: 500 } })),
    );
    const { database, auditKey } = plane.control.services;
    for (const key of keys) await grant(ask(key), Date.now());
    await database.em().execute(
      'update limit_budgets set threshold_crossed_at = now(), exhausted_at = now() where key in (?, ?)',
      keys.map(({ budget }) => `budget:${budget}`),
    );
    const ids = keys.map(({ id }) => id);
    const entries: number[] = [];
    await reportCrossedBudgets(database.em(), auditKey, async (tx) => {
      entries.push(await tx.count(auditEntries, { resourceId: { $in: ids }, userType: 'system' }));
    });
    expect(entries).toEqual([0, 0, 0, 0]);
    expect((await Promise.all(ids.map(entriesAbout))).map(({ length }) => length)).toEqual([2, 2]);
  });

  it('lock at most 10 budgets at a time, because grants wait for the locks', async () => {
    const keys = await Promise.all(
      Array.from({ length: 11 }, () => newKey({ usage_limits: { type: 'tokens', credit_limit: 1_000 } })),
    );
    const { database, auditKey } = plane.control.services;
    for (const key of keys) await grant(ask(key, { alertThreshold: null }), Date.now());
    const names = JSON.stringify(keys.map(({ budget }) => `budget:${budget}`));
    const isOwn = 'key in (select * from jsonb_array_elements_text(?::jsonb))';
    await database.em().execute(`update limit_budgets set exhausted_at = now() where ${isOwn}`, [names], 'run');
    const reportedBefore: number[] = [];
    await reportCrossedBudgets(database.em(), auditKey, async (tx) => {
      const told = await tx.execute(`select key from limit_budgets where exhausted_told_at is not null and ${isOwn}`, [names]);
      reportedBefore.push(told.length);
    });
    expect(reportedBefore).toEqual([...Array(10).fill(0), 10]);
  });

  it('restart with a new period, also without requests', async () => {
    const key = await newKey({ usage_limits: { type: 'tokens', credit_limit: 1_000, periodic_reset: 'weekly' } });
    await grant(ask(key, { alertThreshold: null }), Date.now());
    await use(key, 1_000);
    const { database } = plane.control.services;
    const weekMs = 7 * 86_400_000;
    expect(await clearPassedBudgets(database, Date.now())).toBe(0);
    expect(await clearPassedBudgets(database, Date.now() + weekMs)).toBeGreaterThan(0);
    expect((await plane.ask('GET', `/api-keys/${key.id}`)).body.status).toBe('active');
    const [again] = await grant(ask(key, { alertThreshold: null, need: 700 }), Date.now() + weekMs);
    expect(again).toMatchObject({ units: 700, remaining: 300 });
    await forgetOldWindows(database, Date.now() + 3 * weekMs);
  });

  it('restart with a new period when a gateway asks before the clean-up', async () => {
    const key = await newKey({ usage_limits: { type: 'tokens', credit_limit: 1_000, periodic_reset: 'weekly' } });
    const status = async () => (await plane.ask('GET', `/api-keys/${key.id}`)).body.status;
    await grant(ask(key, { alertThreshold: null }), Date.now());
    await use(key, 1_000);
    expect(await status()).toBe('exhausted');
    await grant(ask(key, { alertThreshold: null }), Date.now() + 7 * 86_400_000);
    expect(await status()).toBe('active');
  });

  it('exist for providers and shared integrations too', async () => {
    const [workspace_id, budget] = [plane.workspaceId, { type: 'tokens', credit_limit: 1_000 }];
    const integration = {
      name: 'i',
      slug: 'with-budgets',
      ai_provider_id: 'openai',
      key: 'sk-1',
      create_default_provider: false,
    };
    expect((await plane.ask('POST', '/integrations', { body: integration })).status).toBe(200);
    const sharing = { workspaces: [{ id: workspace_id, enabled: true, usage_limits: [budget] }] };
    expect((await plane.ask('PUT', '/integrations/with-budgets/workspaces', { body: sharing })).status).toBe(200);
    const provider = { name: 'p', slug: 'with-budget', integration_id: 'with-budgets', workspace_id, usage_limits: budget };
    expect((await plane.ask('POST', '/providers', { body: provider })).status).toBe(200);
    const readProvider = async () =>
      (await plane.ask('GET', `/providers/with-budget?workspace_id=${workspace_id}`)).body.usage_limits;
    const sharedRow = async () => {
      const { workspaces } = (await plane.ask('GET', '/integrations/with-budgets/workspaces')).body;
      return workspaces.find((one: { id: string }) => one.id === workspace_id);
    };
    const readShared = async () => (await sharedRow()).usage_limits[0];
    expect([(await readProvider()).current_usage, (await readShared()).current_usage]).toEqual([0, 0]);

    const idOf = async (path: string) => (await plane.ask('GET', `${path}?workspace_id=${workspace_id}`)).body.id;
    const own = { id: await idOf('/providers/with-budget'), budget: (await readProvider()).id };
    const integrationId = (await plane.ask('GET', '/integrations/with-budgets')).body.id;
    const shared = { id: `${integrationId}-${workspace_id}`, budget: (await readShared()).id };
    await grant(ask(own, { scope: 'provider', alertThreshold: null, periodicReset: null }), Date.now());
    await use(own, 250);
    await grant(ask(shared, { scope: 'integration', alertThreshold: null, periodicReset: null }), Date.now());
    await use(shared, 1_000);
    expect(await readProvider()).toMatchObject({ current_usage: 250, status: 'active' });
    expect(await sharedRow()).toMatchObject({
      status: 'exhausted',
      usage_limits: [{ current_usage: 1_000, status: 'exhausted' }],
    });
    await reported(integrationId, 1);
    expect(await entriesAbout(integrationId)).toMatchObject([
      { action: 'exhausted', budget_of: 'integration', slug: 'with-budgets', uri: '/v1/integrations/with-budgets/workspaces' },
    ]);
    await use(own, 750);
    await reported(own.id, 1);
    expect(await entriesAbout(own.id)).toMatchObject([
      { action: 'exhausted', budget_of: 'provider', uri: '/v1/providers/with-budget' },
    ]);
  });

  it('are not visible to another organisation', async () => {
    const key = await newKey({ usage_limits: { type: 'tokens', credit_limit: 1_000 } });
    const other = await plane.newTenant();
    const reply = await plane.ask('GET', `/api-keys/${key.id}?include_usage=true`, { key: other.adminKey });
    expect(reply.status).toBe(404);
  });
});

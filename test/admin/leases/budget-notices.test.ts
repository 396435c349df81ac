import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clearPassedBudgets, forgetOldWindows } from '../../../admin/leases/clean-ledger.ts';
import { grantLeases } from '../../../admin/leases/ledger.ts';
import { reportCrossedBudgets } from '../../../admin/leases/report-budgets.ts';
import type { Mail } from '../../../admin/mail/mailer.ts';
import type { BudgetAsk } from '../../../core/contract/protocol/limits/leases.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';
import { addPerson } from '../resources/api-keys/people.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('budget notices, on %s', (name) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(name);
  });
  afterAll(() => plane.close());

  const tell = async (): Promise<Mail[]> => {
    const mails: Mail[] = [];
    await reportCrossedBudgets(plane.control.services.database.em(), { on: true, send: (mail) => void mails.push(mail) });
    return mails;
  };

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

  it('are sent once each, to the users responsible for the key', async () => {
    const owner = await addPerson(plane);
    const limits = { type: 'tokens', credit_limit: 1_000, alert_threshold: 500, periodic_reset: 'weekly' };
    const key = await newKey({ usage_limits: limits, alert_emails: ['team@example.com'] });
    const read = async () => (await plane.ask('GET', `/api-keys/${key.id}?include_usage=true`)).body;
    await grant(ask(key), Date.now());

    await use(key, 400);
    expect(await tell()).toEqual([]);
    expect((await read()).usage_limits).toMatchObject({ current_usage: 400, status: 'active', is_threshold_alerts_sent: false });

    await use(key, 200);
    const [threshold, ...rest] = (await tell()).filter((mail) => mail.to === 'team@example.com');
    expect(rest).toEqual([]);
    expect(threshold).toMatchObject({ subject: 'The budget of the API key "night job" has crossed its threshold' });
    expect(threshold?.text).toContain('600 tokens of 1000 tokens');
    expect(await tell()).toEqual([]);

    await use(key, 500);
    expect(await read()).toMatchObject({ status: 'exhausted', usage_limits: { current_usage: 1_100, status: 'exhausted' } });
    const mails = await tell();
    expect(mails.map((mail) => mail.subject)).toContain('The budget of the API key "night job" is exhausted');
    expect(mails.map((mail) => mail.to)).not.toContain(owner);
    expect((await plane.ask('GET', '/api-keys?status=exhausted')).body.data).toHaveLength(1);
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
  });

  it('are not visible to another organisation', async () => {
    const key = await newKey({ usage_limits: { type: 'tokens', credit_limit: 1_000 } });
    const other = await plane.newTenant();
    const reply = await plane.ask('GET', `/api-keys/${key.id}?include_usage=true`, { key: other.adminKey });
    expect(reply.status).toBe(404);
  });
});

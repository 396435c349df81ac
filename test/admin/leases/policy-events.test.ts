import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../admin/audit/entity.ts';
import { grantLeases } from '../../../admin/leases/ledger.ts';
import { mailBudgetEvent } from '../../../admin/leases/mail-budget-events.ts';
import { type BudgetEvent, reportCrossedBudgets } from '../../../admin/leases/report-crossed-budgets.ts';
import type { NewMail } from '../../../admin/mail/add-mails.ts';
import type { BudgetAsk } from '../../../core/contract/protocol/limits/leases.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';
import { until } from '../../support/until.ts';
import { usageBody } from '../resources/policies/probes.ts';
import { newPerson } from '../support/people.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('events of policies, on %s', (name) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(name);
  });
  afterAll(() => plane?.close());

  const entriesAbout = async (policyId: string) => {
    const em = plane.control.services.database.em();
    const rows = await em.find(auditEntries, { resourceId: policyId, userType: 'system' }, { orderBy: { seq: 'asc' } });
    return rows.map(({ action, requestBody }) => ({ action, ...(requestBody as object) }));
  };

  async function newPolicy(fields: object) {
    const { id } = (await plane.ask('POST', '/policies/usage-limits', { body: { ...usageBody, ...fields } })).body;
    const ask = (limits: Partial<BudgetAsk>): BudgetAsk => ({
      ...{ kind: 'budget', key: `budget:${id}`, organisationId: plane.organisationId, scope: 'policy', entityId: id },
      ...{ valueKey: 'api_key:a', unit: 'requests', alertThreshold: 2, capacity: 3, need: 1, want: 1, lease: randomUUID() },
      ...{ seq: 1, startMs: 0, kept: 0, periodicReset: null, periodicResetDays: null, nextUsageResetAt: null, resetAt: null },
      ...limits,
    });
    const count = async (requests: number, limits: Partial<BudgetAsk> = {}) => {
      for (let i = 0; i < requests; i++) {
        const one = ask({ ...limits, seq: 1 });
        const [grant] = await grantLeases(plane.control.services.database, [one], Date.now());
        const reservations = [{ key: one.key, lease: one.lease, startMs: grant?.startMs ?? 0, units: 1 }];
        const record = { ...sampleRecord(), id: randomUUID(), organisationId: plane.organisationId, reservations };
        await plane.internal('POST', '/records', [{ ...record, workspaceId: plane.workspaceId }]);
      }
    };
    return { id: id as string, ask, count };
  }

  it('a counter that crosses its threshold and one that is exhausted get one audit entry each', async () => {
    const policy = await newPolicy({ type: 'requests', credit_limit: 3, alert_threshold: 2 });
    await policy.count(1);
    expect(await entriesAbout(policy.id)).toEqual([]);
    await policy.count(1);
    await until(async () => (await entriesAbout(policy.id)).length === 1, { what: 'the entry about the threshold' });
    await policy.count(1);
    await until(async () => (await entriesAbout(policy.id)).length === 2, { what: 'the entry about the end' });
    const facts = { policy_id: policy.id, name: 'Per key', value_key: 'api_key:a', type: 'requests', credit_limit: 3 };
    expect(await entriesAbout(policy.id)).toMatchObject([
      { action: 'threshold', ...facts, current_usage: 2, alert_threshold: 2 },
      { action: 'exhausted', ...facts, current_usage: 3 },
    ]);
    expect(
      await reportCrossedBudgets(plane.control.services.database.em(), plane.control.services.auditKey, async () => {}),
    ).toBe(0);
    const listed = await plane.ask('GET', `/policies/usage-limits/${policy.id}/entities?status=exhausted`);
    expect(listed.body.data).toMatchObject([{ value_key: 'api_key:a', current_usage: 3, is_exhausted_alerts_sent: true }]);
  });

  it('a counter that rejects calls of a usual size because less is left is reported as exhausted, once', async () => {
    const policy = await newPolicy({ type: 'requests', credit_limit: 10 });
    const { ask } = policy;
    const reject = async (units: number, others: Partial<BudgetAsk> = {}) => {
      await plane.internal('POST', '/leases', {
        asks: [ask({ capacity: 10, alertThreshold: null, need: 0, want: 0, refused: units, ...others })],
      });
    };
    const state = async () =>
      (await plane.ask('GET', `/policies/usage-limits/${policy.id}/entities?status=exhausted`)).body.data.length;
    await policy.count(9, { capacity: 10, alertThreshold: null });
    // More than a quarter of the limit, and an amount that is left.
    await reject(3);
    await reject(1);
    expect(await state()).toBe(0);
    // Units of calls in progress may return.
    const held = ask({ capacity: 10, alertThreshold: null, need: 1, want: 1 });
    const [grant] = await grantLeases(plane.control.services.database, [held], Date.now());
    await reject(2);
    expect(await state()).toBe(0);
    await grantLeases(
      plane.control.services.database,
      [{ ...held, need: 0, want: 0, seq: 2, startMs: grant?.startMs ?? 0 }],
      Date.now(),
    );
    await reject(2);
    await until(async () => (await entriesAbout(policy.id)).length === 1, { what: 'the entry' });
    expect(await state()).toBe(1);
    await policy.count(1, { capacity: 10, alertThreshold: null });
    await reject(2);
    expect(await entriesAbout(policy.id)).toMatchObject([{ action: 'exhausted', current_usage: 9 }]);
  });

  it('webhooks of the workspace that subscribe to an event get one delivery for it', async () => {
    const url = 'https://hooks.example.com/policies';
    const hook = async (events: string[], status = 'active') =>
      (await plane.ask('POST', '/webhooks', { body: { name: 'Hook', url, events, status } })).body.slug as string;
    const [all, exhausted, paused] = [
      await hook(['policy.threshold', 'policy.exhausted']),
      await hook(['policy.exhausted']),
      await hook(['policy.exhausted'], 'paused'),
    ];
    const policy = await newPolicy({ type: 'requests', credit_limit: 3, alert_threshold: 2 });
    await policy.count(3);
    await until(async () => (await entriesAbout(policy.id)).length === 2, { what: 'both audit entries' });
    const eventsOf = async (slug: string) =>
      (await plane.ask('GET', `/webhooks/${slug}/deliveries`)).body.data.map((one: { event: string }) => one.event).sort();
    expect(await eventsOf(all)).toEqual(['policy.exhausted', 'policy.threshold']);
    expect(await eventsOf(exhausted)).toEqual(['policy.exhausted']);
    expect(await eventsOf(paused)).toEqual([]);
  });

  it('owners and admins get one mail per event', async () => {
    const em = plane.control.services.database.em();
    const { email: ownerEmail } = await newPerson(plane, 'admin');
    await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'member' }]);
    const sent: NewMail[] = [];
    const mailer = { on: true, add: async (_tx: unknown, mails: readonly NewMail[]) => void sent.push(...mails) };
    const data = {
      policy_id: 'p',
      name: 'Per key',
      value_key: 'api_key:a',
      type: 'cost',
      current_usage: 9.5,
      credit_limit: 10,
    } as const;
    const { organisationId, workspaceId } = plane;
    const event: Omit<BudgetEvent, 'event'> = {
      organisationId,
      data: { ...data, alert_threshold: null },
      owner: {
        ...{ kind: 'policy', id: 'p', slug: null, name: 'Per key', workspaceId, userId: null, alertEmails: [] },
        ...{ resource: 'policies', uri: '/v1/policies/usage-limits/p' },
      },
    };
    await mailBudgetEvent(em, mailer, { ...event, event: 'policy.threshold' });
    await mailBudgetEvent(em, mailer, { ...event, event: 'policy.exhausted' });
    expect(sent.map(({ to, subject }) => [to, subject])).toEqual([
      [ownerEmail, 'A budget of the usage policy "Per key" has crossed its threshold'],
      [ownerEmail, 'A budget of the usage policy "Per key" is exhausted'],
    ]);
    expect(sent[0]?.text).toContain('9.50 of 10.00 US dollars are used, counted for: api_key:a');
  });

  it('a higher limit makes an exhausted counter active again', async () => {
    const policy = await newPolicy({ type: 'requests', credit_limit: 3 });
    await policy.count(3);
    const list = async (status: string) =>
      (await plane.ask('GET', `/policies/usage-limits/${policy.id}/entities?status=${status}`)).body.total;
    expect([await list('exhausted'), await list('active')]).toEqual([1, 0]);
    await plane.ask('PUT', `/policies/usage-limits/${policy.id}`, { body: { credit_limit: 4 } });
    expect([await list('exhausted'), await list('active')]).toEqual([0, 1]);
  });
});

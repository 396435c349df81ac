import { limitUnitsMax } from '../../core/contract/protocol/limits/budget-rules.ts';
import type { BudgetScope, policyBudgetTypes } from '../../core/contract/protocol/limits/limit-kinds.ts';
import { type AuditDraft, addAuditEntry } from '../audit/audit-entry.ts';
import type { EntityManager } from '../db/open-database.ts';
import { type BudgetOwner, ownBudgetOf } from './budget-owner.ts';

/** A row of `limit_budgets` with a mark that was not reported. */
interface CrossedBudget {
  readonly key: string;
  readonly organisation_id: string;
  readonly scope: BudgetScope;
  readonly entity_id: string;
  readonly value_key: string | null;
  readonly unit: (typeof policyBudgetTypes)[number];
  readonly used: number | string;
  readonly capacity: number | string;
  readonly alert_threshold: number | string | null;
  readonly is_threshold: boolean;
  readonly is_exhausted: boolean;
}

type CrossedLimit = 'threshold' | 'exhausted';

/** A budget, or a counter of a usage policy, has crossed its threshold or is exhausted. */
export interface BudgetEvent {
  readonly organisationId: string;
  readonly event: `${'budget' | 'policy'}.${CrossedLimit}`;
  /** The audit entry and webhooks show this. Amounts are US dollars, tokens or requests, by `type`. */
  readonly data: BudgetFacts;
  readonly owner: BudgetOwner;
}

interface BudgetFacts extends Readonly<Record<string, unknown>> {
  readonly type: CrossedBudget['unit'];
  readonly current_usage: number;
  /** Null: the budget has a threshold only. */
  readonly credit_limit: number | null;
  readonly alert_threshold: number | null;
}

/** Notifies others of an event in the transaction that marks it as reported. */
export type PublishBudgetEvent = (tx: EntityManager, event: BudgetEvent) => Promise<void>;

/**
 * Budgets in one transaction, which locks them for grants. With a mail to 50 people for each event, 100 budgets were locked for 0.6 s, and a grant
 * for one of them delays all that its gateway asks for.
 */
const batchMax = 10;
const perUnit = (unit: CrossedBudget['unit']): number => (unit === 'cost' ? 1_000_000 : 1);

/**
 * Writes an audit entry for each budget, and each counter of a policy, that has crossed its threshold, and one for each that is exhausted.
 * Returns the number of rows. They are locked before the audit chains, as in every change.
 */
export async function reportCrossedBudgets(
  em: EntityManager,
  auditKey: Uint8Array,
  publish: PublishBudgetEvent,
): Promise<number> {
  for (let total = 0; ; ) {
    const count = await em.fork().transactional((tx) => reportBatch(tx, auditKey, publish));
    total += count;
    if (count < batchMax) return total;
  }
}

async function reportBatch(tx: EntityManager, auditKey: Uint8Array, publish: PublishBudgetEvent): Promise<number> {
  const crossed = await tx.execute<CrossedBudget[]>(
    `select key, organisation_id, scope, entity_id, value_key, unit, used, capacity, alert_threshold,
       threshold_crossed_at is not null and threshold_told_at is null as is_threshold,
       exhausted_at is not null and exhausted_told_at is null as is_exhausted
     from limit_budgets
     where (threshold_crossed_at is not null and threshold_told_at is null) or (exhausted_at is not null and exhausted_told_at is null)
     order by key limit ? for update`,
    [batchMax],
    'all',
  );
  const events: BudgetEvent[] = [];
  for (const budget of crossed) {
    const own = await ownBudgetOf(tx, budget);
    if (own === null) continue;
    const { owner, limits } = own;
    // A limit that was raised since the mark is not reached. The mark is removed when a process reports the new one.
    const isReached = (limit: number | null, reached: number | string | null): boolean =>
      limit !== null && Math.round(limit * perUnit(budget.unit)) <= Number(reached);
    if (budget.is_threshold && isReached(limits.alertThreshold, budget.alert_threshold))
      events.push(eventOf(budget, owner, 'threshold'));
    if (budget.is_exhausted && isReached(limits.creditLimit, budget.capacity)) events.push(eventOf(budget, owner, 'exhausted'));
  }
  // Publishing locks rows, for example of webhooks, whose changes lock the audit chain after their row.
  for (const event of events) await publish(tx, event);
  for (const event of events) await addEntry(tx, auditKey, event);
  if (crossed.length > 0) {
    await tx.execute(
      `update limit_budgets set
         threshold_told_at = case when threshold_crossed_at is null then threshold_told_at else coalesce(threshold_told_at, now()) end,
         exhausted_told_at = case when exhausted_at is null then exhausted_told_at else coalesce(exhausted_told_at, now()) end
       where key in (select * from jsonb_array_elements_text(?::jsonb))`,
      [JSON.stringify(crossed.map(({ key }) => key))],
      'run',
    );
  }
  return crossed.length;
}

function eventOf(budget: CrossedBudget, owner: BudgetOwner, limit: CrossedLimit): BudgetEvent {
  const event = `${owner.kind === 'policy' ? 'policy' : 'budget'}.${limit}` as const;
  return { organisationId: budget.organisation_id, event, data: factsOf(budget, owner), owner };
}

async function addEntry(tx: EntityManager, auditKey: Uint8Array, event: BudgetEvent): Promise<void> {
  const { organisationId, data, owner } = event;
  const limit = event.event.endsWith('.exhausted') ? 'exhausted' : 'threshold';
  const draft: AuditDraft = {
    ...{ organisationId, workspaceId: owner.workspaceId, method: 'POST', uri: owner.uri, requestId: '', requestBody: data },
    ...{ queryParams: {}, userId: null, resourceType: owner.resource, action: limit, clientIp: '' },
    userType: 'system',
  };
  await addAuditEntry(tx, auditKey, draft, { status: 200, errorCode: null, about: owner });
}

function factsOf({ unit, used, capacity, alert_threshold, value_key }: CrossedBudget, owner: BudgetOwner): BudgetFacts {
  const amount = (units: number | string): number => Number(units) / perUnit(unit);
  const { kind, id, name, slug } = owner;
  return {
    ...(kind === 'policy' ? { policy_id: id, name, value_key } : { budget_of: kind, id, slug, name }),
    type: unit,
    current_usage: amount(used),
    credit_limit: Number(capacity) >= limitUnitsMax ? null : amount(capacity),
    alert_threshold: alert_threshold === null ? null : amount(alert_threshold),
  };
}

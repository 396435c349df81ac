import { addAuditEntry } from '../audit/audit-entry.ts';
import type { EntityManager } from '../db/open-database.ts';

interface Crossed {
  readonly key: string;
  readonly organisation_id: string;
  readonly workspace_id: string;
  readonly policy_id: string;
  readonly policy_name: string | null;
  readonly value_key: string | null;
  readonly unit: 'cost' | 'tokens' | 'requests';
  readonly used: number | string;
  readonly capacity: number | string;
  readonly alert_threshold: number | string | null;
  readonly is_threshold: boolean;
  readonly is_exhausted: boolean;
}

export interface PolicyEvent {
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly event: 'policy.threshold' | 'policy.exhausted';
  readonly data: Readonly<Record<string, unknown>>;
}

/** Notifies others of an event in the transaction that marks it as reported. */
export type PublishPolicyEvent = (tx: EntityManager, event: PolicyEvent) => Promise<void>;

/** Counters in one transaction. */
const batchMax = 100;
const microUsd = 1_000_000;

/**
 * Writes an audit entry for each counter of a policy that has crossed its threshold, and one for each that is exhausted. Returns the
 * number of counters. The rows of the counters are locked before the audit chains, as in every change.
 */
export async function auditCrossedPolicies(
  em: EntityManager,
  auditKey: Uint8Array,
  publish: PublishPolicyEvent,
): Promise<number> {
  for (let total = 0; ; ) {
    const count = await em.fork().transactional((tx) => auditBatch(tx, auditKey, publish));
    total += count;
    if (count < batchMax) return total;
  }
}

async function auditBatch(tx: EntityManager, auditKey: Uint8Array, publish: PublishPolicyEvent): Promise<number> {
  const crossed = await tx.execute<Crossed[]>(
    `select b.key, b.organisation_id, p.workspace_id, p.id as policy_id, p.name as policy_name, b.value_key, b.unit, b.used, b.capacity,
       b.alert_threshold, b.threshold_crossed_at is not null and b.threshold_told_at is null as is_threshold,
       b.exhausted_at is not null and b.exhausted_told_at is null as is_exhausted
     from limit_budgets b join usage_policies p on p.id::text = b.entity_id and p.organisation_id = b.organisation_id
     where b.scope = 'policy' and ((b.threshold_crossed_at is not null and b.threshold_told_at is null)
       or (b.exhausted_at is not null and b.exhausted_told_at is null))
     order by b.key limit ? for update of b`,
    [batchMax],
    'all',
  );
  for (const counter of crossed) {
    if (counter.is_threshold) await addEntry(tx, auditKey, counter, 'threshold', publish);
    if (counter.is_exhausted) await addEntry(tx, auditKey, counter, 'exhausted', publish);
  }
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

async function addEntry(
  tx: EntityManager,
  auditKey: Uint8Array,
  counter: Crossed,
  event: 'threshold' | 'exhausted',
  publish: PublishPolicyEvent,
): Promise<void> {
  const amount = (units: number | string) => Number(units) / (counter.unit === 'cost' ? microUsd : 1);
  const facts = {
    policy_id: counter.policy_id,
    name: counter.policy_name,
    value_key: counter.value_key,
    type: counter.unit,
    current_usage: amount(counter.used),
    credit_limit: amount(counter.capacity),
    alert_threshold: counter.alert_threshold === null ? null : amount(counter.alert_threshold),
  };
  const draft = {
    organisationId: counter.organisation_id,
    workspaceId: counter.workspace_id,
    method: 'POST',
    uri: `/v1/policies/usage-limits/${counter.policy_id}`,
    requestId: '',
    requestBody: facts,
    queryParams: {},
    userId: null,
    userType: 'system',
    resourceType: 'policies',
    action: event,
    clientIp: '',
  } as const;
  await addAuditEntry(tx, auditKey, draft, { status: 200, errorCode: null, resourceId: counter.policy_id });
  await publish(tx, {
    organisationId: counter.organisation_id,
    workspaceId: counter.workspace_id,
    event: `policy.${event}`,
    data: facts,
  });
}

import type {
  PolicyTarget,
  RatePolicy,
  UsagePolicy,
  WorkspacePoliciesDocument,
} from '../../../core/contract/protocol/limits/policies.ts';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { EntityManager } from '../../db/open-database.ts';

interface Row {
  readonly organisation_id: string;
  readonly group_by: readonly { readonly key: string }[];
}

type UsageRow = Row & Omit<UsagePolicy, 'groupBy' | 'nextUsageResetAt'> & { readonly nextUsageResetAt: Date | string | null };
type RateRow = Row & Omit<RatePolicy, 'groupBy' | 'value'> & { readonly value: number | string; readonly target: PolicyTarget };

/**
 * Returns the active policies of a workspace; null if the id is none. Reads plain rows: a workspace may have
 * thousands, and the ORM would build an entity for each.
 */
export async function toPoliciesDocument(em: EntityManager, id: string): Promise<WorkspacePoliciesDocument | null> {
  if (!isUuid(id)) return null;
  const [workspace] = await em.execute<{ organisation_id: string }[]>('select organisation_id from workspaces where id = ?', [
    id,
  ]);
  if (!workspace) return null;
  const usage = await em.execute<UsageRow[]>(
    `select id, conditions, group_by, type, target, credit_limit as "creditLimit", alert_threshold as "alertThreshold",
       periodic_reset as "periodicReset", periodic_reset_days as "periodicResetDays", next_usage_reset_at as "nextUsageResetAt"
     from usage_policies where workspace_id = ? and status = 'active' order by created_at, id`,
    [id],
  );
  const rate = await em.execute<RateRow[]>(
    `select id, conditions, group_by, type, unit, value, target
     from rate_policies where workspace_id = ? and status = 'active' order by created_at, id`,
    [id],
  );
  return {
    id,
    organisationId: workspace.organisation_id,
    usage: usage.map(({ group_by, nextUsageResetAt, ...row }) => ({
      ...row,
      groupBy: keysOf(group_by),
      nextUsageResetAt: nextUsageResetAt === null ? null : new Date(nextUsageResetAt).toISOString(),
    })),
    rate: rate.filter(({ target }) => target === 'llm').map(toRatePolicy),
    toolRate: rate.filter(({ target }) => target === 'mcp_tools').map(toRatePolicy),
    agentRate: rate.filter(({ target }) => target === 'agents').map(toRatePolicy),
  };
}

function toRatePolicy({ group_by, value, target: _, ...row }: RateRow): RatePolicy {
  return { ...row, groupBy: keysOf(group_by), value: Number(value) };
}

function keysOf(groupBy: readonly { readonly key: string }[]): string[] {
  return groupBy.map(({ key }) => key);
}

import type { EntityManager } from '../db/open-database.ts';
import type { BudgetRow } from './budget-ledger.ts';

type Budget = Pick<BudgetRow, 'key' | 'organisation_id' | 'scope' | 'entity_id'>;

/**
 * Marks the entity itself as exhausted, for lists and filters. Workspaces show it with their budget. Not if its budget is another one or
 * larger by now.
 */
export async function markExhausted(tx: EntityManager, budget: Budget & Pick<BudgetRow, 'capacity'>): Promise<void> {
  const limit = `round((usage_limits->>'creditLimit')::numeric * case usage_limits->>'type' when 'cost' then 1000000 else 1 end)`;
  await setExhausted(tx, budget, `exhausted_at = now() where exhausted_at is null and ${limit} <= ?::bigint`, [budget.capacity]);
}

/** Removes the mark, if the budget is that of the entity. */
export async function clearExhausted(tx: EntityManager, budget: Budget): Promise<void> {
  await setExhausted(tx, budget, 'exhausted_at = null where exhausted_at is not null', []);
}

async function setExhausted(tx: EntityManager, budget: Budget, change: string, values: readonly unknown[]): Promise<void> {
  const { key, scope, entity_id: id, organisation_id: organisationId } = budget;
  const ofBudget = `organisation_id = ? and usage_limits->>'id' = ?`;
  const own = [organisationId, budgetIdOf(key)];
  if (scope === 'key' || scope === 'provider') {
    const table = scope === 'key' ? 'api_keys' : 'providers';
    await tx.execute(`update ${table} set ${change} and id = ?::uuid and ${ofBudget}`, [...values, id, ...own], 'run');
  } else if (scope === 'integration') {
    // `<integration>-<workspace>`, both UUIDs.
    await tx.execute(
      `update integration_workspaces set ${change} and integration_id = ?::uuid and workspace_id = ?::uuid and ${ofBudget}`,
      [...values, id.slice(0, 36), id.slice(37), ...own],
      'run',
    );
  }
}

/** Returns the id in `usage_limits` of the owner. Counters of policies have longer ones. */
export function budgetIdOf(key: string): string {
  return key.slice('budget:'.length);
}

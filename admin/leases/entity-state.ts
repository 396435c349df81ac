import type { EntityManager } from '../db/open-database.ts';
import type { BudgetRow } from './budget-ledger.ts';

type Owner = Pick<BudgetRow, 'organisation_id' | 'scope' | 'entity_id'>;

/** Marks the entity itself as exhausted, for lists and filters. Workspaces show it with their budget. */
export async function markExhausted(tx: EntityManager, owner: Owner): Promise<void> {
  await setExhausted(tx, owner, 'now()');
}

/** Removes the mark. */
export async function clearExhausted(tx: EntityManager, owner: Owner): Promise<void> {
  await setExhausted(tx, owner, 'null');
}

async function setExhausted(tx: EntityManager, owner: Owner, value: 'now()' | 'null'): Promise<void> {
  const { scope, entity_id: id, organisation_id: organisationId } = owner;
  const state = value === 'null' ? 'is not null' : 'is null';
  if (scope === 'key' || scope === 'provider') {
    const table = scope === 'key' ? 'api_keys' : 'providers';
    await tx.execute(
      `update ${table} set exhausted_at = ${value} where id = ?::uuid and organisation_id = ? and exhausted_at ${state}`,
      [id, organisationId],
      'run',
    );
  } else if (scope === 'integration') {
    // `<integration>-<workspace>`, both UUIDs.
    await tx.execute(
      `update integration_workspaces set exhausted_at = ${value}
       where integration_id = ?::uuid and workspace_id = ?::uuid and organisation_id = ? and exhausted_at ${state}`,
      [id.slice(0, 36), id.slice(37), organisationId],
      'run',
    );
  }
}

import type { EntityManager } from '../../db/open-database.ts';
import type { Place, Vault } from '../../secrets/vault.ts';
import type { Integration } from './entity.ts';

/** The secret settings of an integration as plain text, by config name. */
export async function openSecrets(em: EntityManager, vault: Vault, row: Integration): Promise<Record<string, string>> {
  if (row.secrets === null || row.secrets === undefined) return {};
  return JSON.parse(await vault.open(em, placeOf(row), row.secrets)) as Record<string, string>;
}

/** Adds, replaces and (where empty) removes secrets, seals the result into the row and renews its hints. */
export async function putSecrets(
  em: EntityManager,
  vault: Vault,
  row: Integration,
  changes: Readonly<Record<string, string>>,
): Promise<void> {
  const all = { ...(await openSecrets(em, vault, row)), ...changes };
  const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
  row.secrets = Object.keys(kept).length === 0 ? null : await vault.seal(em, placeOf(row), JSON.stringify(kept));
  row.secretHints = Object.fromEntries(Object.entries(kept).map(([key, value]) => [key, lastCharacters(value)]));
}

/** What people may see of a secret: nothing of a short one, the last four characters of a long one. */
export function lastCharacters(value: string): string {
  return value.length >= 16 ? value.slice(-4) : '';
}

export function masked(hint: string): string {
  return `****${hint}`;
}

function placeOf(row: Integration): Place {
  return { organisationId: row.organisationId, table: 'integrations', column: 'secrets', rowId: row.id };
}

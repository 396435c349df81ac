import type { EntityManager } from '../db/open-database.ts';
import type { SealContext, Vault } from './vault.ts';

/** A row whose secret fields are sealed together in its column `secrets`. */
export interface SealedRow {
  readonly id: string;
  readonly organisationId: string;
  /** JSON of the secrets by name, sealed by the organisation's data key; null when there are none. */
  secrets?: string | null;
  /** Last characters of each secret by its name, for masked reads. */
  secretHints: Record<string, string>;
}

/** Reads and writes the secret fields of the rows of one table. */
export interface SealedFields<Row extends SealedRow> {
  /** Returns all of them as plain text, by name. */
  open(em: EntityManager, vault: Vault, row: Row): Promise<Record<string, string>>;
  /** Adds, replaces and (if empty) removes secrets, seals the result into the row and updates its hints. */
  put(em: EntityManager, vault: Vault, row: Row, changes: Readonly<Record<string, string>>): Promise<void>;
}

/** Secrets of `table` are bound to their row. They cannot be opened in another row. */
export function sealedFields<Row extends SealedRow>(table: string): SealedFields<Row> {
  const contextOf = (row: Row): SealContext => ({
    organisationId: row.organisationId,
    table,
    column: 'secrets',
    rowId: row.id,
  });
  const open: SealedFields<Row>['open'] = async (em, vault, row) => {
    if (row.secrets === null || row.secrets === undefined) return {};
    return JSON.parse(await vault.open(em, contextOf(row), row.secrets)) as Record<string, string>;
  };
  return {
    open,
    async put(em, vault, row, changes) {
      const all = { ...(await open(em, vault, row)), ...changes };
      const stored = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
      row.secrets = Object.keys(stored).length === 0 ? null : await vault.seal(em, contextOf(row), JSON.stringify(stored));
      row.secretHints = Object.fromEntries(Object.entries(stored).map(([key, value]) => [key, lastCharacters(value)]));
    },
  };
}

/** Returns the visible part of a secret: the last four characters of a long one, nothing of a short one. */
export function lastCharacters(value: string): string {
  return value.length >= 16 ? value.slice(-4) : '';
}

const mask = '****';

/** Returns the mask of a secret in replies. `hint` is its end, or empty for a secret that is too short to show a part of. */
export function masked(hint: string): string {
  return `${mask}${hint}`;
}

/** Secrets as reads show them, by name. */
export function maskedFields(hints: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(hints).map(([key, hint]) => [key, masked(hint)]));
}

/** Returns true for a masked value that was sent back; it means "unchanged". */
export function isMasked(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(mask);
}

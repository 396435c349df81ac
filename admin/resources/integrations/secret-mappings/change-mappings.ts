import type { EntityManager } from '../../../db/open-database.ts';
import type { Integration } from '../entity.ts';
import { requireOpenReferences } from './mapping-rights.ts';
import { addedMappings, type Mapping, storeMappings } from './mapping-table.ts';
import { secretMappings } from './secret-mapping-entity.ts';
import { mappingsOf, refuseBoth } from './secret-mappings.ts';

export interface ChangedMappings {
  readonly all: readonly Mapping[];
  /** Mappings that are new or changed. */
  readonly added: readonly Mapping[];
}

/**
 * Stores and returns the mappings of an integration after a change: the sent ones, else the existing ones without the fields that
 * were sent as values. `values` are the sent fields by config name; null or empty removes a value. Throws AB01 for fields given
 * twice, and for references that a workspace with access to the integration may not use.
 */
export async function changeMappings(
  tx: EntityManager,
  row: Integration,
  sent: readonly Mapping[] | undefined,
  values: Readonly<Record<string, unknown>>,
): Promise<ChangedMappings> {
  const before = await mappingsOf(tx, row);
  const given = new Set(Object.keys(values).filter((name) => values[name] !== null && values[name] !== ''));
  if (sent) refuseBoth(sent, given);
  const all = sent ?? before.filter(({ field }) => !given.has(field));
  const added = addedMappings(before, all);
  if (sent !== undefined || all.length < before.length) await storeMappings(tx, secretMappings, row, all);
  if (added.length > 0) await requireOpenReferences(tx, row, all, 'secret_mappings');
  return { all, added };
}

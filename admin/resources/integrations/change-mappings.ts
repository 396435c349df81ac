import { isDeepStrictEqual } from 'node:util';
import type { EntityManager } from '../../db/open-database.ts';
import type { Integration } from './entity.ts';
import { requireOpenReferences } from './mapping-rights.ts';
import { type Mapping, mappingsOf, refuseBoth, storeMappings } from './secret-mappings.ts';

export interface ChangedMappings {
  readonly all: readonly Mapping[];
  /** Those that were not there, or were different. */
  readonly added: readonly Mapping[];
}

/**
 * The mappings of an integration after a change, stored: those that were sent, else those there are, less what was sent as a value.
 * `values` are the fields that were sent by config name, null or empty where they are to be removed. Throws AB01 for what is given twice,
 * and for references that are not open where the integration is shared to.
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
  const added = all.filter((one) => !before.some((other) => isDeepStrictEqual(identityOf(one), identityOf(other))));
  if (sent !== undefined || all.length < before.length) await storeMappings(tx, row, all);
  if (added.length > 0) await requireOpenReferences(tx, row, all, 'secret_mappings');
  return { all, added };
}

function identityOf({ reference, ...rest }: Mapping): object {
  return { ...rest, reference: reference.id };
}

import { isDeepStrictEqual } from 'node:util';
import { defineEntity, p } from '@mikro-orm/core';
import type { EntityManager } from '../../../db/open-database.ts';
import { type SecretReference, secretReferences } from '../../secret-references/entity.ts';

/** One field that is read from a secret manager, and its location there. */
export interface Mapping {
  /** Config name: `api_key`, `aws_region`. */
  readonly field: string;
  /** True for a credential, false for a plain setting. */
  readonly isSecret: boolean;
  /** Name of the value in the secret; null: the reference decides. */
  readonly secretKey: string | null;
  readonly valueFormat: 'string' | 'json' | null;
  readonly reference: SecretReference;
}

export type MappingTable = ReturnType<typeof defineMappingTable>;

/** Returns a table with one row per mapped field of an integration. */
export function defineMappingTable<Name extends string>(name: Name, tableName: string) {
  return defineEntity({
    name,
    tableName,
    properties: {
      integrationId: p.uuid().primary(),
      field: p.text().primary(),
      organisationId: p.uuid(),
      secretReferenceId: p.uuid(),
      /** Name of the value in the secret; overrides that of the reference. */
      secretKey: p.text().nullable(),
      valueFormat: p.text().$type<'string' | 'json'>().nullable(),
      /** Position in the sent list. */
      position: p.integer(),
    },
  });
}

/** Mappings of integrations of one organisation by the id of the integration, in the order they were sent. Those without any are left out. */
export async function readMappings(
  em: EntityManager,
  table: MappingTable,
  organisationId: string,
  integrationIds: readonly string[],
  isSecret: (integrationId: string, field: string) => boolean,
): Promise<Map<string, Mapping[]>> {
  const found = new Map<string, Mapping[]>();
  if (integrationIds.length === 0) return found;
  // Rows are written past the unit of work, so they are read past it.
  const options = { orderBy: { position: 'asc' }, disableIdentityMap: true } as const;
  const rows = await em.find(table, { organisationId, integrationId: { $in: [...integrationIds] } }, options);
  if (rows.length === 0) return found;
  const named = [...new Set(rows.map((row) => row.secretReferenceId))];
  const references = await em.find(secretReferences, { organisationId, id: { $in: named } });
  const byId = new Map(references.map((row) => [row.id, row]));
  for (const { integrationId, field, secretReferenceId, secretKey = null, valueFormat = null } of rows) {
    const reference = byId.get(secretReferenceId) as SecretReference;
    const list = found.get(integrationId) ?? [];
    list.push({ field, isSecret: isSecret(integrationId, field), secretKey, valueFormat, reference });
    found.set(integrationId, list);
  }
  return found;
}

/** Returns the ids of the integrations that read from a secret reference. */
export async function mappedIntegrations(
  em: EntityManager,
  table: MappingTable,
  organisationId: string,
  secretReferenceId: string,
): Promise<string[]> {
  const rows = await em.find(table, { organisationId, secretReferenceId });
  return [...new Set(rows.map((one) => one.integrationId))];
}

/** Replaces all mappings of an integration. Its row must be written already. */
export async function storeMappings(
  em: EntityManager,
  table: MappingTable,
  { id: integrationId, organisationId }: { readonly id: string; readonly organisationId: string },
  mapped: readonly Mapping[],
): Promise<void> {
  await em.nativeDelete(table, { organisationId, integrationId });
  if (mapped.length === 0) return;
  const rows = mapped.map(({ field, secretKey, valueFormat, reference }, position) => ({
    ...{ integrationId, organisationId, field, secretKey, valueFormat, position },
    secretReferenceId: reference.id,
  }));
  await em.insertMany(table, rows);
}

/** Returns the mappings of `now` that are not in `before`. */
export function addedMappings(before: readonly Mapping[], now: readonly Mapping[]): Mapping[] {
  return now.filter((one) => !before.some((other) => isDeepStrictEqual(identityOf(one), identityOf(other))));
}

function identityOf({ reference, ...rest }: Mapping): object {
  return { ...rest, reference: reference.id };
}

import type { EntityManager } from '../../db/open-database.ts';
import { invalid, unknownReference } from '../../http/errors.ts';
import { type SecretReference, secretReferences } from '../secret-references/entity.ts';
import { findReference, isOpenTo } from '../secret-references/find-reference.ts';
import { mappableSettings } from './configurations.ts';
import type { Integration } from './entity.ts';
import type { SentMappings } from './mapping-schema.ts';
import { secretMappings } from './secret-mapping-entity.ts';

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

/** Prefixes of settings in `target_field`. */
export type SettingsName = 'configurations' | 'model_config';

export interface MappingScope {
  readonly organisationId: string;
  /** Workspace of the integration; null: the organisation's. */
  readonly workspaceId: string | null;
  readonly aiProviderId: string;
}

/** A field as `target_field` names it. */
export function targetOf(field: string, under: SettingsName): string {
  return field === 'api_key' ? 'key' : `${under}.${field}`;
}

/**
 * Resolves the sent mappings with their references. With `hold`, locks the references until the transaction ends. Throws AB01 for
 * a field that cannot be mapped or is named twice, AB02 for a reference that does not exist or that the workspace may not use.
 */
export async function resolveMappings(
  em: EntityManager,
  scope: MappingScope,
  sent: SentMappings,
  under: SettingsName,
  hold = true,
): Promise<Mapping[]> {
  const fields = fieldsOf(scope.aiProviderId);
  const byTarget = new Map([...fields.keys()].map((field) => [targetOf(field, under), field]));
  const found: Mapping[] = [];
  for (const [index, one] of (sent ?? []).entries()) {
    const path = `secret_mappings[${index}]`;
    const field = byTarget.get(one.target_field);
    if (field === undefined) {
      throw invalid(`${path}.target_field: one of ${[...byTarget.keys()].join(', ')} is expected for ${scope.aiProviderId}`);
    }
    if (found.some((other) => other.field === field)) throw invalid(`${path}.target_field: duplicate`);
    const lock = hold ? 'to use' : undefined;
    const reference = await findReference(em, scope.organisationId, one.secret_reference_id, lock);
    if (!reference || (scope.workspaceId !== null && !isOpenTo(reference, scope.workspaceId))) {
      throw unknownReference(`${path}.secret_reference_id`, 'Secret reference');
    }
    const { secret_key: secretKey = null, value_format: valueFormat = null } = one;
    found.push({ field, isSecret: fields.get(field) === true, secretKey, valueFormat, reference });
  }
  return found;
}

/** The same for an existing integration; undefined if the request contains no mappings. */
export async function mappingsToChange(
  em: EntityManager,
  row: Integration,
  sent: SentMappings,
  under: SettingsName,
): Promise<Mapping[] | undefined> {
  if (sent === undefined) return undefined;
  const { organisationId, aiProviderId, workspaceId = null } = row;
  return resolveMappings(em, { organisationId, workspaceId, aiProviderId }, sent, under);
}

/** Mappable fields of a provider type, by config name; true for credentials. */
function fieldsOf(aiProviderId: string): Map<string, boolean> {
  return new Map([['api_key', true], ...mappableSettings(aiProviderId)]);
}

/** Throws AB01 when a field was given by a mapping and by a value. `given` are the fields with a value, by config name. */
export function refuseBoth(mapped: readonly Mapping[], given: ReadonlySet<string>): void {
  const index = mapped.findIndex(({ field }) => given.has(field));
  if (index >= 0)
    throw invalid(`secret_mappings[${index}].target_field: the field also has a value in this request. Send one of them`);
}

/** The fields of one integration that are read from secret managers, in the order they were sent. */
export async function mappingsOf(em: EntityManager, row: Integration): Promise<Mapping[]> {
  return (await mappingsOfAll(em, row.organisationId, [row])).get(row.id) ?? [];
}

/** The same of many integrations, by their ids; those without any are left out. */
export async function mappingsOfAll(
  em: EntityManager,
  organisationId: string,
  of: readonly Integration[],
): Promise<Map<string, Mapping[]>> {
  if (of.length === 0) return new Map();
  // Rows are written past the unit of work, so they are read past it.
  const rows = await em.find(
    secretMappings,
    { organisationId, integrationId: { $in: of.map(({ id }) => id) } },
    { orderBy: { position: 'asc' }, disableIdentityMap: true },
  );
  const found = new Map<string, Mapping[]>();
  if (rows.length === 0) return found;
  const named = [...new Set(rows.map((row) => row.secretReferenceId))];
  const references = await em.find(secretReferences, { organisationId, id: { $in: named } });
  const byId = new Map(references.map((row) => [row.id, row]));
  const typeOf = new Map(of.map(({ id, aiProviderId }) => [id, aiProviderId]));
  for (const { integrationId, field, secretReferenceId, secretKey = null, valueFormat = null } of rows) {
    const reference = byId.get(secretReferenceId) as SecretReference;
    const isSecret = fieldsOf(typeOf.get(integrationId) ?? '').get(field) === true;
    const list = found.get(integrationId) ?? [];
    list.push({ field, isSecret, secretKey, valueFormat, reference });
    found.set(integrationId, list);
  }
  return found;
}

/** Replaces all mappings of an integration. Its row must be written already. */
export async function storeMappings(em: EntityManager, row: Integration, mapped: readonly Mapping[]): Promise<void> {
  const { id: integrationId, organisationId } = row;
  await em.nativeDelete(secretMappings, { organisationId, integrationId });
  if (mapped.length === 0) return;
  await em.insertMany(
    secretMappings,
    mapped.map(({ field, secretKey, valueFormat, reference }, position) => ({
      ...{ field, secretKey, valueFormat },
      integrationId,
      organisationId,
      secretReferenceId: reference.id,
      position,
    })),
  );
}

/** Mappings as reads show them. */
export function mappingsReplyOf(mapped: readonly Mapping[], under: SettingsName) {
  return mapped.map(({ field, reference, secretKey, valueFormat }) => ({
    target_field: targetOf(field, under),
    secret_reference_id: reference.id,
    secret_key: secretKey,
    value_format: valueFormat,
  }));
}

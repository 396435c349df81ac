import type { EntityManager } from '../../../db/open-database.ts';
import { invalid, unknownReference } from '../../../http/errors.ts';
import type { SecretReference } from '../../secret-references/entity.ts';
import { findReference, isOpenTo } from '../../secret-references/find-reference.ts';
import { mappableSettings } from '../configurations/configurations.ts';
import type { Integration } from '../entity.ts';
import type { SentMappings } from './mapping-schema.ts';
import { type Mapping, readMappings } from './mapping-table.ts';
import { secretMappings } from './secret-mapping-entity.ts';

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
    const reference = await resolveReference(em, scope, one.secret_reference_id, path, hold);
    const { secret_key: secretKey = null, value_format: valueFormat = null } = one;
    found.push({ field, isSecret: fields.get(field) === true, secretKey, valueFormat, reference });
  }
  return found;
}

/** Returns the reference of the mapping at `path`. Throws AB02 if it does not exist, or if the workspace may not use it. */
export async function resolveReference(
  em: EntityManager,
  scope: Pick<MappingScope, 'organisationId' | 'workspaceId'>,
  idOrSlug: string,
  path: string,
  hold = true,
): Promise<SecretReference> {
  const reference = await findReference(em, scope.organisationId, idOrSlug, hold ? 'to use' : undefined);
  if (reference && (scope.workspaceId === null || isOpenTo(reference, scope.workspaceId))) return reference;
  throw unknownReference(`${path}.secret_reference_id`, 'Secret reference');
}

/** Returns the mappings for an existing integration; undefined if the request contains none. */
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

/** Returns the mappings of many integrations, by id of the integration. Integrations without mappings are omitted. */
export async function mappingsOfAll(
  em: EntityManager,
  organisationId: string,
  of: readonly Integration[],
): Promise<Map<string, Mapping[]>> {
  const typeOf = new Map(of.map(({ id, aiProviderId }) => [id, aiProviderId]));
  const isSecret = (id: string, field: string): boolean => fieldsOf(typeOf.get(id) ?? '').get(field) === true;
  return readMappings(em, secretMappings, organisationId, [...typeOf.keys()], isSecret);
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

import { canonicalProviderId } from '../../../core/providers/declarations.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { forbidden, invalid, unknownReference } from '../../http/errors.ts';
import type { Change } from '../../publish/write-change.ts';
import type { Vault } from '../../secrets/vault.ts';
import { providers } from '../providers/entity.ts';
import { isOpenTo } from '../secret-references/find-reference.ts';
import { type Integration, integrations } from './entity.ts';
import { openHeaders, putHeaders, settingsOf } from './headers.ts';
import { type Mapping, storeMappings } from './secret-mappings/mapping-table.ts';
import { secretMappings } from './secret-mappings/secret-mapping-entity.ts';
import { mappingsOf } from './secret-mappings/secret-mappings.ts';
import { openSecrets, putSecrets } from './secrets.ts';
import { createIntegration, updateIntegration } from './service.ts';

const field = 'source_provider_api_key_id';
const scopes = ['virtual_keys.copy', 'virtual_keys.duplicate'];

/**
 * Returns the integration whose credential is copied, by the row id of a provider that uses it. Throws AB03 without the scope for
 * it, AB02 if the actor cannot access the provider, AB01 if the credential belongs to the organisation, since it is shared
 * instead of copied.
 */
export async function findSource(em: EntityManager, actor: Actor, organisationId: string, id: string): Promise<Integration> {
  if (!scopes.some((scope) => actor.scopes.has(scope))) throw forbidden(`${field}: requires the scope ${scopes.join(' or ')}`);
  const own = actor.workspaceId === null ? {} : { workspaceId: actor.workspaceId };
  const provider = await em.findOne(providers, { id, organisationId, ...own });
  const found = provider && (await em.findOne(integrations, { id: provider.integrationId, organisationId, status: 'active' }));
  if (!found) throw unknownReference(field, 'Virtual key');
  if (!found.workspaceId) {
    throw invalid(`${field}: it uses an integration of the organisation. Create a provider with integration_id ${found.slug}`);
  }
  return found;
}

/** Throws AB01 if the source has another type than the named one, or if a credential was sent as well. */
export function requireSource(source: Integration, type: string | undefined, key: string | null | undefined): void {
  if (type !== undefined && canonicalProviderId(type) !== source.aiProviderId) {
    throw invalid(`${field}: has another provider type (${source.aiProviderId})`);
  }
  if (key) throw invalid(`key: not together with ${field}`);
}

/**
 * Creates an integration with the credential and the settings of another one. `changes` replace settings. A host that the
 * credential was not stored for is rejected, as with every update.
 */
export async function copyIntegration(
  change: Change,
  vault: Vault,
  actor: Actor,
  source: Integration,
  scope: { readonly organisationId: string; readonly workspaceId: string; readonly name: string },
  changes: Readonly<Record<string, unknown>>,
): Promise<Integration> {
  const { api_key: key = null, ...secrets } = await openSecrets(change.tx, vault, source);
  const copy = await createIntegration(change, vault, {
    ...scope,
    aiProviderId: source.aiProviderId,
    key,
    description: null,
    configurations: { ...settingsOf(source), ...secrets, custom_headers: await openHeaders(change.tx, vault, source) },
    mapped: await mappingsFor(change.tx, source, scope.workspaceId),
  });
  if (Object.keys(changes).length > 0) await updateIntegration(change, vault, actor, copy, { configurations: changes });
  return copy;
}

/** Replaces the credential and settings of an integration with those of another one of its type. */
export async function takeCredentials(em: EntityManager, vault: Vault, source: Integration, target: Integration): Promise<void> {
  const emptied = Object.fromEntries(Object.keys(target.secretHints).map((name) => [name, '']));
  target.configurations = settingsOf(source);
  await putHeaders(em, vault, target, await openHeaders(em, vault, source));
  await storeMappings(em, secretMappings, target, await mappingsFor(em, source, target.workspaceId ?? ''));
  await putSecrets(em, vault, target, { ...emptied, ...(await openSecrets(em, vault, source)) });
}

/** Copies the mappings of the source. Throws AB01 if this workspace may not use one of the references. */
async function mappingsFor(em: EntityManager, source: Integration, workspaceId: string): Promise<Mapping[]> {
  const mapped = await mappingsOf(em, source);
  if (mapped.every(({ reference }) => isOpenTo(reference, workspaceId))) return mapped;
  throw invalid(`${field}: uses a secret reference that is not open to this workspace`);
}

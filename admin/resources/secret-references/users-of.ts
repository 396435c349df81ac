import { announceProviders } from '../../announce/providers.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Change } from '../../publish/write-change.ts';
import { type Integration, integrations } from '../integrations/entity.ts';
import { secretMappings } from '../integrations/secret-mapping-entity.ts';
import { type SecretReference, secretReferences } from './entity.ts';

/** The integrations that read from a reference, those behind virtual keys included, by slug. */
export async function usersOf(em: EntityManager, row: SecretReference): Promise<Integration[]> {
  const { organisationId } = row;
  const mappings = await em.find(secretMappings, { organisationId, secretReferenceId: row.id });
  const ids = [...new Set(mappings.map((one) => one.integrationId))];
  return em.find(integrations, { organisationId, id: { $in: ids }, status: 'active' }, { orderBy: { slug: 'asc' } });
}

/** Announces every provider that reads from the reference, so that gateways load it again. */
export async function announceUsers(change: Change, row: SecretReference): Promise<void> {
  for (const integration of await usersOf(change.tx, row)) await announceProviders(change, integration.id, 'upsert');
}

/** A workspace that is deleted is no longer named by references. */
export async function forgetWorkspace(
  { tx }: Change,
  workspace: { readonly id: string; readonly organisationId: string },
): Promise<void> {
  const { id, organisationId } = workspace;
  for (const row of await tx.find(secretReferences, { organisationId, allowAllWorkspaces: false })) {
    if (row.allowedWorkspaces.includes(id)) row.allowedWorkspaces = row.allowedWorkspaces.filter((one) => one !== id);
  }
}

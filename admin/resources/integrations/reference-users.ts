import { announceProviders } from '../../announce/providers.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Dependent, OwnerRow } from '../../publish/dependents.ts';
import { type Integration, integrations } from './entity.ts';
import { secretMappings } from './secret-mapping-entity.ts';

/** Integrations that read from a secret reference, those behind virtual keys included. */
export const referenceUsers: Dependent = {
  what: 'integrations or virtual keys',
  async refuse(em, row, actor) {
    const users = await usersOf(em, row);
    if (users.length === 0) return null;
    const maySee = ['organisation_integrations.list', 'workspace_integrations.list'].some((scope) => actor.scopes.has(scope));
    const slugs = maySee ? `: ${users.map(({ slug }) => slug).join(', ')}` : '';
    return `This secret reference is used by ${users.length} integrations or virtual keys${slugs}. Change them first`;
  },
  async changed(change, row) {
    for (const integration of await usersOf(change.tx, row)) await announceProviders(change, integration.id, 'upsert');
  },
  async remove({ tx }, { id, organisationId }) {
    // Mappings left by integrations that an older version archived.
    await tx.nativeDelete(secretMappings, { organisationId, secretReferenceId: id });
  },
};

/** The active integrations that read from a reference, by slug. */
async function usersOf(em: EntityManager, { id, organisationId }: OwnerRow): Promise<Integration[]> {
  const mappings = await em.find(secretMappings, { organisationId, secretReferenceId: id });
  const ids = [...new Set(mappings.map((one) => one.integrationId))];
  return em.find(integrations, { organisationId, id: { $in: ids }, status: 'active' }, { orderBy: { slug: 'asc' } });
}

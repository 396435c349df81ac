import { announceProviders } from '../../../announce/providers.ts';
import { integrations } from '../entity.ts';
import { mappingUsers } from './mapping-users.ts';
import { secretMappings } from './secret-mapping-entity.ts';

/** Integrations that read from a secret reference, those behind virtual keys included. */
export const referenceUsers = mappingUsers({
  what: 'integrations or virtual keys',
  mappings: secretMappings,
  scopes: ['organisation_integrations.list', 'workspace_integrations.list'],
  find: (em, organisationId, ids) =>
    em.find(integrations, { organisationId, id: { $in: ids }, status: 'active' }, { orderBy: { slug: 'asc' } }),
  announce: (change, id) => announceProviders(change, id, 'upsert'),
});

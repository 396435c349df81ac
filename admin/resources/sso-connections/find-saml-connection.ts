import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { notFound } from '../../http/errors.ts';
import { type SsoConnection, ssoConnections } from './entity.ts';

/** Returns an enabled SAML connection. `id` names it, or an organisation with one such connection. Throws AB08. */
export async function findSamlConnection(em: EntityManager, id: string): Promise<SsoConnection> {
  const found = await samlConnectionAt(em, id);
  if (!found) throw notFound('SAML connection');
  return found;
}

/** Like `findSamlConnection`; null if there is none. */
export async function samlConnectionAt(em: EntityManager, id: string): Promise<SsoConnection | null> {
  const enabled = { type: 'saml', isEnabled: true } as const;
  const found = isUuid(id)
    ? await em.find(ssoConnections, { ...enabled, $or: [{ id }, { organisationId: id }] }, { limit: 2 })
    : [];
  return found.length === 1 && found[0] ? found[0] : null;
}

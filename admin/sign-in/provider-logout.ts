import { messageOf } from '../../core/contract/values/errors/message-of.ts';
import type { EntityManager } from '../db/open-database.ts';
import type { Session } from '../identity/entity.ts';
import { externalIdentities, type SsoConnection } from '../resources/sso-connections/entity.ts';
import { logoutHintContext } from './finish-sign-in.ts';
import type { ClientServices } from './oidc/client.ts';
import { oidcLogoutUrl } from './oidc/logout.ts';
import { samlLogoutUrl } from './saml/logout.ts';

/**
 * Returns the address that ends the session at its provider too. Null if the provider has none or cannot be reached: the session here
 * ends in any case.
 */
export async function providerLogoutUrl(
  em: EntityManager,
  services: ClientServices,
  connection: SsoConnection,
  { organisationId, identityId, logoutHint, providerSession }: Session,
): Promise<string | null> {
  if (!identityId || !logoutHint) return null;
  try {
    const row = await em.findOneOrFail(externalIdentities, { id: identityId, organisationId });
    const hint = await services.vault.open(em, logoutHintContext(row), logoutHint);
    if (connection.type === 'oidc') return await oidcLogoutUrl(em, services, connection, hint);
    return await samlLogoutUrl(em, services, connection, {
      subject: row.subject,
      hint,
      providerSession: providerSession ?? null,
    });
  } catch (error) {
    services.log.warn(
      { connectionId: connection.id, reason: messageOf(error) },
      'no address for the logout at the identity provider',
    );
    return null;
  }
}

import type { EntityManager } from '../../db/open-database.ts';
import { organisations } from '../organisations/entity.ts';
import { externalIdentities } from '../sso-connections/entity.ts';
import type { User } from './entity.ts';

/** Returns false if the organisation requires single sign-on. Owners may still use their password, in case the provider fails. */
export async function mayUsePassword(em: EntityManager, user: Pick<User, 'organisationId' | 'role'>): Promise<boolean> {
  if (user.role === 'owner') return true;
  const { authSettings } = await em.findOneOrFail(organisations, { id: user.organisationId });
  return authSettings?.require_sso !== true;
}

/**
 * Returns true if this user may request a link to set a password. Users of an identity provider or a directory who have no password cannot:
 * they could otherwise sign in after the provider has disabled them. `passwordHash` must be loaded.
 */
export async function mayRequestPassword(em: EntityManager, user: User): Promise<boolean> {
  if (!(await mayUsePassword(em, user))) return false;
  if (user.passwordHash) return true;
  const { organisationId, id: userId, userName } = user;
  return userName === null && (await em.count(externalIdentities, { organisationId, userId })) === 0;
}

import type { EntityManager } from '../../db/open-database.ts';
import { organisations } from '../organisations/entity.ts';
import type { User } from './entity.ts';

/** Returns false if the organisation requires single sign-on. Owners may still use their password, in case the provider fails. */
export async function mayUsePassword(em: EntityManager, user: Pick<User, 'organisationId' | 'role'>): Promise<boolean> {
  if (user.role === 'owner') return true;
  const { authSettings } = await em.findOneOrFail(organisations, { id: user.organisationId });
  return authSettings?.require_sso !== true;
}

import type { EntityManager } from '../../db/open-database.ts';
import { ScimError } from '../../scim/scim-error.ts';
import { isInVerifiedDomain } from '../../sign-in/find-connections.ts';
import { emailDomains } from '../email-domains/entity.ts';
import { checkEmailDomain } from '../users/check-email-domain.ts';

/**
 * Throws `invalidValue` for an e-mail outside the allowed domains of the organisation, or outside its verified domains if it has verified
 * any.
 */
export async function checkDirectoryEmail(em: EntityManager, organisationId: string, email: string): Promise<void> {
  await checkEmailDomain(em, organisationId, email);
  if ((await em.count(emailDomains, { organisationId, verifiedAt: { $ne: null } })) === 0) return;
  if (await isInVerifiedDomain(em, organisationId, email)) return;
  throw new ScimError('invalidValue', 'emails: the domain is not a verified domain of the organisation. Verify it first');
}

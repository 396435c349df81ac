import type { EntityManager } from '../../db/open-database.ts';
import { invalid } from '../../http/errors.ts';
import { organisations } from '../organisations/entity.ts';

/** Throws AB01 for an e-mail outside the domains of the organisation, if it has any. */
export async function checkEmailDomain(em: EntityManager, organisationId: string, email: string): Promise<void> {
  const { authSettings } = await em.findOneOrFail(organisations, { id: organisationId });
  const allowed = authSettings?.allowed_email_domains ?? [];
  if (allowed.length === 0) return;
  const domain = email.slice(email.lastIndexOf('@') + 1);
  const fits = allowed.some((one) => domain === one.domain || (one.allow_subdomains && domain.endsWith(`.${one.domain}`)));
  if (!fits) throw invalid('email: the organisation does not allow this domain');
}

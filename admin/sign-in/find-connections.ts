import { plainDomain } from '../../core/contract/values/text/email-address.ts';
import type { EntityManager } from '../db/open-database.ts';
import { emailDomains } from '../resources/email-domains/entity.ts';
import { type SsoConnection, ssoConnections } from '../resources/sso-connections/entity.ts';

/** Maximum number of connections of an organisation, and of organisations with one domain, that a sign-in considers. */
const considered = 50;

/** Returns true if the organisation has proved that it owns the domain of this e-mail. */
export async function isInVerifiedDomain(em: EntityManager, organisationId: string, email: string): Promise<boolean> {
  return (await organisationsOf(em, email)).includes(organisationId);
}

/**
 * Returns the enabled connections for a sign-in: those of the named organisation, else of every organisation that owns the domain of the
 * e-mail. `client` selects one by id, slug or OIDC client id.
 */
export async function findConnections(
  em: EntityManager,
  sought: { readonly email: string; readonly organisationId: string | undefined; readonly client: string | undefined },
): Promise<SsoConnection[]> {
  const owners = sought.organisationId === undefined ? await organisationsOf(em, sought.email) : [sought.organisationId];
  if (owners.length === 0) return [];
  const rows = await em.find(
    ssoConnections,
    { organisationId: { $in: owners }, isEnabled: true },
    { orderBy: { createdAt: 'asc', id: 'asc' }, limit: considered },
  );
  const { client } = sought;
  return rows.filter((row) => client === undefined || [row.id, row.slug, row.settings.client_id].includes(client));
}

/** Ids of the organisations that own the domain of this e-mail, or a parent domain with `allow_subdomains`. */
async function organisationsOf(em: EntityManager, email: string): Promise<string[]> {
  const domain = plainDomain(email.slice(email.lastIndexOf('@') + 1));
  const labels = domain.split('.');
  const parents = labels.slice(1).map((_, index) => labels.slice(index + 1).join('.'));
  const rows = await em.find(
    emailDomains,
    { verifiedAt: { $ne: null }, $or: [{ domain }, { domain: { $in: parents }, allowSubdomains: true }] },
    { limit: considered },
  );
  return [...new Set(rows.map(({ organisationId }) => organisationId))];
}

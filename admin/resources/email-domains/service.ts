import { plainDomain } from '../../../core/contract/values/text/email-address.ts';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { conflict, invalid, notFound } from '../../http/errors.ts';
import { newSecret } from '../../identity/one-time-secret.ts';
import type { Change } from '../../publish/write-change.ts';
import { type EmailDomain, emailDomains } from './entity.ts';

const domainsMax = 100;

/** The record is below the domain, so that it does not mix with other TXT records. */
export function recordOf({ domain, challenge }: Pick<EmailDomain, 'domain' | 'challenge'>) {
  return { type: 'TXT' as const, name: `_svc-gateway-challenge.${domain}`, value: `svc-verification=${challenge}` };
}

/** Adds a domain, not yet verified. Throws AB07 if the organisation has it. */
export async function createDomain(
  { tx, about }: Change,
  organisationId: string,
  sent: { readonly domain: string; readonly allow_subdomains: boolean },
): Promise<EmailDomain> {
  const { domain, allow_subdomains: allowSubdomains } = sent;
  const rows = await tx.find(emailDomains, { organisationId });
  if (rows.some((row) => row.domain === domain)) throw conflict('domain: the organisation already has this domain');
  if (rows.length >= domainsMax) throw invalid(`domain: an organisation has at most ${domainsMax} domains. Delete one first`);
  if (allowSubdomains) requireRoot(domain, rows);
  const now = new Date();
  const row = tx.create(emailDomains, {
    ...{ id: newId(), organisationId, domain, allowSubdomains, challenge: newSecret(''), verifiedAt: null },
    ...{ createdAt: now, lastUpdatedAt: now },
  });
  await tx.flush();
  about(row);
  return row;
}

/** Throws AB01 for subdomains of a domain that is below another one of the organisation. */
export async function updateDomain({ tx, about }: Change, row: EmailDomain, allowSubdomains: boolean): Promise<void> {
  if (allowSubdomains) requireRoot(row.domain, await tx.find(emailDomains, { organisationId: row.organisationId }));
  row.allowSubdomains = allowSubdomains;
  row.lastUpdatedAt = new Date();
  about(row);
}

/** Looks the DNS record up. Throws AB01 with the expected record if it is not there. */
export async function requireRecord({ resolveTxt }: Pick<AdminServices, 'resolveTxt'>, row: EmailDomain): Promise<void> {
  const { name, value } = recordOf(row);
  const found = await resolveTxt(name).catch((error: NodeJS.ErrnoException) => {
    throw invalid(`domain: the TXT record ${name} could not be read (${error.code ?? 'no reply'}). Expected the value ${value}`);
  });
  if (found.some((chunks) => chunks.join('') === value)) return;
  throw invalid(`domain: no TXT record ${name} has the value ${value}. Changes of DNS can take an hour to become visible`);
}

/** A domain of the organisation by id or name. Throws AB08. */
export async function findDomain(em: EntityManager, organisationId: string, idOrName: string): Promise<EmailDomain> {
  const where = isUuid(idOrName) ? { id: idOrName } : { domain: plainDomain(idOrName) };
  const found = await em.findOne(emailDomains, { ...where, organisationId });
  if (!found) throw notFound('E-mail domain');
  return found;
}

function requireRoot(domain: string, rows: readonly EmailDomain[]): void {
  if (rows.some((row) => domain.endsWith(`.${row.domain}`))) {
    throw invalid('allow_subdomains: is for root domains only. The organisation has a parent domain of this one');
  }
}

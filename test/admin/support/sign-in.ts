import { newId } from '../../../admin/db/new-id.ts';
import { writeChange } from '../../../admin/publish/write-change.ts';
import { emailDomains } from '../../../admin/resources/email-domains/entity.ts';
import { finishSignIn, type VerifiedIdentity } from '../../../admin/sign-in/finish-sign-in.ts';
import type { Plane } from './plane.ts';

/** Domain of the users of `arrive`. */
export const verifiedDomain = 'sso.example.com';

/** Adds a connection to an identity provider that no test calls, and the verified domain. Returns its id. */
export async function newConnection(plane: Plane, more: object = {}): Promise<string> {
  const oidc = { issuer: 'https://id.example.com', client_id: 'gateway', client_secret: 'the secret of the client' };
  const made = await plane.ask('POST', '/admin/sso-connections', { body: { name: 'Identity', type: 'oidc', oidc, ...more } });
  if (made.status !== 200) throw new Error(`no connection: ${JSON.stringify(made.body)}`);
  await addVerifiedDomain(plane, verifiedDomain);
  return made.body.id;
}

/** Adds a verified domain without DNS. */
export async function addVerifiedDomain(plane: Plane, domain: string, allowSubdomains = false): Promise<void> {
  const em = plane.control.services.database.em();
  const { organisationId } = plane;
  if ((await em.count(emailDomains, { organisationId, domain })) > 0) return;
  const now = new Date();
  em.create(emailDomains, {
    ...{ id: newId(), organisationId, domain, allowSubdomains, challenge: 'test' },
    ...{ verifiedAt: now, createdAt: now, lastUpdatedAt: now },
  });
  await em.flush();
}

/** Signs the user of an identity in, as after a verified response of the provider. Rejects with the error of the reply. */
export function arrive(
  plane: Plane,
  identity: Partial<VerifiedIdentity> & { readonly connectionId: string; readonly subject: string },
) {
  const { services } = plane.control;
  const { organisationId } = plane;
  return finishSignIn(
    {
      services,
      em: services.database.em(),
      clientIp: '127.0.0.1',
      userAgent: null,
      header: () => {},
      auditRefusal: () => {},
      write: (person, work) => {
        const audit = {
          ...{
            organisationId,
            workspaceId: null,
            method: 'GET',
            uri: '/',
            requestId: newId(),
            requestBody: null,
            queryParams: {},
          },
          ...{ userId: person.userId, userType: 'user' as const, resourceType: 'sessions', action: 'login', clientIp: 'local' },
        };
        const hooks = { committed: services.wakeRelay };
        return writeChange(services.database.emOf(organisationId), services.auditKey, audit, null, work, hooks);
      },
    },
    {
      organisationId,
      type: 'oidc',
      issuer: 'https://id.example.com',
      subjectIsEmail: false,
      email: `${identity.subject}@${verifiedDomain}`,
      emailVerified: true,
      groups: [],
      firstName: null,
      lastName: null,
      providerSession: null,
      sessionEndsAt: null,
      logoutHint: '',
      ...identity,
    },
  );
}

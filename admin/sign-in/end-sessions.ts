import type { EntityManager } from '../db/open-database.ts';
import { sessions } from '../identity/entity.ts';
import { externalIdentities } from '../resources/sso-connections/entity.ts';

/** The sessions that a provider ends: those of a subject, of some of its sessions, or both. */
export interface EndedAtProvider {
  readonly organisationId: string;
  readonly connectionId: string;
  readonly issuer: string;
  readonly subject: string | null;
  readonly providerSessions: readonly string[] | null;
  /** Sessions that began later stay, so that a repeated request ends nothing new. */
  readonly before: Date;
}

/** Ends the sessions that an identity provider has ended. Returns how many. */
export async function endProviderSessions(tx: EntityManager, ended: EndedAtProvider): Promise<number> {
  const { organisationId, connectionId, issuer, subject, providerSessions, before } = ended;
  const identities =
    subject === null ? null : await tx.find(externalIdentities, { organisationId, issuer, subject }, { fields: ['id'] });
  return tx.nativeDelete(sessions, {
    organisationId,
    connectionId,
    createdAt: { $lte: before },
    ...(identities === null ? {} : { identityId: { $in: identities.map(({ id }) => id) } }),
    ...(providerSessions === null ? {} : { providerSession: { $in: [...providerSessions] } }),
  });
}

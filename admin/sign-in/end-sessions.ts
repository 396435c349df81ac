import { sessions } from '../identity/entity.ts';
import type { Change } from '../publish/write-change.ts';
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

/** Ends the sessions that an identity provider has ended. The audit entry names their user, if it is one. */
export async function endProviderSessions({ tx, about, by }: Change, ended: EndedAtProvider): Promise<void> {
  const { organisationId, connectionId, issuer, subject, providerSessions, before } = ended;
  const identities =
    subject === null ? null : await tx.find(externalIdentities, { organisationId, issuer, subject }, { fields: ['userId'] });
  const where = {
    organisationId,
    connectionId,
    createdAt: { $lte: before },
    ...(identities === null ? {} : { identityId: { $in: identities.map(({ id }) => id) } }),
    ...(providerSessions === null ? {} : { providerSession: { $in: [...providerSessions] } }),
  };
  const rows = await tx.find(sessions, where, { fields: ['userId'] });
  const [user, ...others] = new Set([...(identities ?? []), ...rows].map(({ userId }) => userId));
  about({ id: connectionId });
  if (user !== undefined && others.length === 0) by({ id: user });
  await tx.nativeDelete(sessions, where);
}

import type { Settings } from '../../config/settings.ts';
import { dayMs, hourMs } from '../../core/contract/values/time/durations.ts';
import { newId } from '../db/new-id.ts';
import type { EntityManager } from '../db/open-database.ts';
import type { AdminServices } from '../http/admin-services.ts';
import type { KnownPerson, Unchecked } from '../http/public-route.ts';
import { withdrawMails } from '../mail/add-mails.ts';
import type { User } from '../resources/users/entity.ts';
import { type OneTimeToken, oneTimeTokens } from './entity.ts';
import { passwordMail, verificationMail } from './mails.ts';
import { hashOf, newSecret, secretIn } from './one-time-secret.ts';

type Purpose = OneTimeToken['purpose'];

/** Validity of a link in milliseconds. */
const goodMs: Readonly<Record<Purpose, number>> = { 'set-password': hourMs, 'verify-email': dayMs };
const purposes = Object.keys(goodMs) as Purpose[];

/**
 * Returns a link to the page of links. The token follows `#`: browsers do not send that part, so it appears in no log
 * and no referrer.
 */
export function linkTo(settings: Pick<Settings, 'publicUrl'>, what: 'accept-invite' | Purpose, token: string): string {
  return `${settings.publicUrl}/v1/auth/link#${what}=${token}`;
}

/**
 * Creates a link for this user and stores the mail with it. Earlier links for the same purpose stop working, and their mails are not sent. Wake the
 * mailer after the commit.
 */
export async function mailLink(
  tx: EntityManager,
  { settings, mailer, clock }: Pick<AdminServices, 'settings' | 'mailer' | 'clock'>,
  user: Pick<User, 'id' | 'organisationId' | 'email'>,
  purpose: Purpose,
): Promise<string> {
  const now = clock.now();
  const link = await newLink(tx, settings, user, purpose, now);
  const about = { resource: 'users', uri: `/v1/admin/users/${user.id}`, id: user.id, workspaceId: null };
  const { organisationId } = user;
  await mailer.add(tx, [
    { organisationId, kind: purpose, about, endsAt: now + goodMs[purpose], ...mailOf[purpose](user.email, link) },
  ]);
  return link;
}

const mailOf = { 'set-password': passwordMail, 'verify-email': verificationMail } as const;

async function newLink(
  tx: EntityManager,
  settings: Pick<Settings, 'publicUrl'>,
  user: Pick<User, 'id' | 'organisationId'>,
  purpose: Purpose,
  now: number,
): Promise<string> {
  const token = newSecret('svc_link_');
  await endLinks(tx, user, purpose);
  tx.create(oneTimeTokens, {
    id: newId(),
    organisationId: user.organisationId,
    userId: user.id,
    purpose,
    tokenHash: hashOf(token),
    createdAt: new Date(now),
    expiresAt: new Date(now + goodMs[purpose]),
  });
  return linkTo(settings, purpose, token);
}

/** Ends the links of a user: all, or those for one purpose. Mails with them that wait are not sent. */
export async function endLinks(
  tx: EntityManager,
  { id: userId, organisationId }: Pick<User, 'id' | 'organisationId'>,
  purpose?: Purpose,
): Promise<void> {
  await tx.nativeDelete(oneTimeTokens, { organisationId, userId, ...(purpose === undefined ? {} : { purpose }) });
  for (const each of purpose === undefined ? purposes : [purpose]) await withdrawMails(tx, organisationId, each, userId);
}

/** Returns a link that is still valid; null otherwise. `useLink` consumes it. */
export async function findLink(em: EntityManager, purpose: Purpose, token: string, now: number): Promise<OneTimeToken | null> {
  return em.findOne(oneTimeTokens, { tokenHash: hashOf(token), purpose, expiresAt: { $gt: new Date(now) } });
}

/**
 * Consumes the link; false if a concurrent request just did. A mail with it that waits is not sent: the link was in a reply as well. Its row stays for
 * a while, see `forgetEnded`. The end that was read is compared, because the clock of a concurrent request may be earlier.
 */
export async function useLink(tx: EntityManager, link: OneTimeToken, now: number): Promise<boolean> {
  const { id, organisationId, expiresAt, purpose, userId } = link;
  const used = await tx.nativeUpdate(oneTimeTokens, { id, organisationId, expiresAt }, { expiresAt: new Date(now) });
  // After the link, as in `endLinks`, so that the two cannot deadlock.
  if (used === 1) await withdrawMails(tx, organisationId, purpose, userId);
  return used === 1;
}

/** Returns the user of the link whose token an unchecked body holds, also of one that has ended; null if there is none. */
export async function userOfLink(
  em: EntityManager,
  purpose: Purpose,
  { body }: Pick<Unchecked, 'body'>,
): Promise<KnownPerson | null> {
  const token = secretIn(body, 'token');
  return token === null ? null : em.findOne(oneTimeTokens, { tokenHash: hashOf(token), purpose });
}

import type { EntityManager } from '../db/open-database.ts';
import { type ExternalIdentity, externalIdentities } from '../resources/sso-connections/entity.ts';
import type { User } from '../resources/users/entity.ts';
import type { VerifiedIdentity } from './finish-sign-in.ts';
import { SignInRefusal } from './refusal.ts';

/** Option of queries whose users `requireSameEmail` and `linkedBefore` compare. */
export const withAddresses = { populate: ['directory'] as const };

/**
 * Throws SignInRefusal if the subject of a known account is an e-mail that its user no longer has: the provider may have given it to another
 * person.
 */
export function requireSameEmail(user: User, { subject, subjectIsEmail }: VerifiedIdentity): void {
  if (!subjectIsEmail || hasAddress(user, subject)) return;
  throw new SignInRefusal(
    'identity_conflict',
    'The user who signed in with this e-mail now has another one. Sign in with that one. If the e-mail belongs to another person now, an admin can unlink it',
  );
}

/**
 * Returns the account of this user at the same provider if the new subject is the user's e-mail, and that of the account is an e-mail that the
 * user had before a directory changed it, or differs in case only. Null if no account of the provider is linked. Throws SignInRefusal if another
 * account is linked: the e-mail may have been given to another person.
 */
export async function linkedBefore(
  em: EntityManager,
  user: User,
  { type, issuer, organisationId, subject, subjectIsEmail }: VerifiedIdentity,
): Promise<ExternalIdentity | null> {
  const [first = null, ...others] = await em.find(externalIdentities, { organisationId, userId: user.id, type, issuer });
  if (first === null) return null;
  const isSameEmail = first.subject.toLowerCase() === subject.toLowerCase();
  // Only directories change e-mails. The linked subject of any other user was never the user's e-mail if it differs from it.
  const isFormerEmail = user.userName !== null && first.subject.includes('@') && !hasAddress(user, first.subject);
  if (subjectIsEmail && (isSameEmail || isFormerEmail) && others.length === 0) return first;
  throw new SignInRefusal(
    'identity_conflict',
    'The user with this e-mail is linked to another account of this identity provider. An admin can unlink it',
  );
}

function hasAddress({ email, userName, directory }: User, address: string): boolean {
  const addresses = [email, userName, ...(directory?.emails ?? []).map(({ value }) => value)];
  return addresses.some((one) => one?.toLowerCase() === address.toLowerCase());
}

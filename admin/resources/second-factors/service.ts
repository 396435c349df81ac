import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { TooManyRequests } from '../../http/caller/rate-limit.ts';
import { AdminError, conflict, forbidden, invalid, notFound } from '../../http/errors.ts';
import { verifyPassword } from '../../identity/passwords.ts';
import { type SecondFactor, secondFactors } from '../../identity/second-factor/entity.ts';
import { isRequired } from '../../identity/second-factor/pending.ts';
import { countRecoveryCodes, replaceRecoveryCodes } from '../../identity/second-factor/recovery-codes.ts';
import { createTotpSecret, useTotpCode } from '../../identity/second-factor/totp.ts';
import { confirmCredential, enrolmentOptions } from '../../identity/second-factor/webauthn.ts';
import type { Change } from '../../publish/write-change.ts';
import { organisations } from '../organisations/entity.ts';
import { type User, users } from '../users/entity.ts';
import type { Confirmation } from './schema.ts';

type Owner = Pick<User, 'id' | 'organisationId' | 'email'>;

/** Factors of one user, and the time in milliseconds for which an enrolment can be confirmed. */
const factorsMax = 10;
const enrolMs = 900_000;

/** Returns the confirmed factors of a user, oldest first. */
export function confirmedFactors(
  em: EntityManager,
  { id, organisationId }: Pick<Owner, 'id' | 'organisationId'>,
): Promise<SecondFactor[]> {
  const where = { organisationId, userId: id, confirmedAt: { $ne: null } };
  return em.find(secondFactors, where, { orderBy: { createdAt: 'asc', id: 'asc' } });
}

/** Begins the enrolment of a factor. Earlier unconfirmed enrolments of the user end. Throws AB07 if the user has too many. */
export async function beginEnrolment(
  change: Change,
  services: AdminServices,
  user: Owner,
  sent: { readonly kind: SecondFactor['kind']; readonly name: string },
) {
  const { tx } = change;
  const { organisationId, id: userId } = user;
  const now = services.clock.now();
  const others = await confirmedFactors(tx, user);
  if (others.length >= factorsMax) throw conflict(`A user has at most ${factorsMax} second factors. Remove one first`);
  if (sent.kind === 'totp' && others.some((one) => one.kind === 'totp')) {
    throw conflict('kind: this user has an authenticator app. Remove it before you add another one');
  }
  await tx.nativeDelete(secondFactors, { organisationId, userId, confirmedAt: null });
  const factor = tx.create(secondFactors, {
    id: newId(),
    organisationId,
    userId,
    kind: sent.kind,
    name: sent.name,
    secret: null,
    lastStep: null,
    failures: 0,
    failuresSince: null,
    credentialId: null,
    publicKey: null,
    signCount: 0,
    transports: null,
    challenge: null,
    createdAt: new Date(now),
    confirmedAt: null,
    lastUsedAt: null,
  });
  change.about(factor);
  const begun = { id: factor.id, kind: sent.kind, object: 'second_factor_enrolment' as const };
  if (sent.kind === 'webauthn') {
    const options = await enrolmentOptions(services.settings, factor, user.email, others);
    return { ...begun, secret: null, uri: null, options };
  }
  const { name } = await tx.findOneOrFail(organisations, { id: organisationId });
  return { ...begun, ...(await createTotpSecret(tx, services.vault, factor, user.email, name)), options: null };
}

/**
 * Completes an enrolment with a proof of the new factor. Returns new recovery codes with the first factor, else null. Throws AB08
 * if there is no such enrolment and AB01 for a wrong proof.
 */
export async function confirmEnrolment(
  change: Change,
  services: AdminServices,
  user: Owner,
  factorId: string,
  { passcode, credential }: Confirmation,
): Promise<string[] | null> {
  const { tx } = change;
  const { organisationId, id: userId } = user;
  const now = services.clock.now();
  const begun = { id: factorId, organisationId, userId, confirmedAt: null, createdAt: { $gt: new Date(now - enrolMs) } };
  const factor = await tx.findOne(secondFactors, begun);
  if (!factor) throw notFound('Enrolment');
  if (factor.kind === 'totp') {
    if (passcode === undefined) throw invalid('passcode: required to confirm an authenticator app');
    if (!(await useTotpCode(tx, services.vault, factor, passcode, now)))
      throw invalid('passcode: wrong code. Check the clock of the device');
  } else {
    if (credential === undefined) throw invalid('credential: required to confirm a security key');
    if (!(await confirmCredential(services.settings, factor, credential))) {
      throw invalid('credential: the reply of the authenticator is not valid for this service. Begin again');
    }
  }
  factor.confirmedAt = new Date(now);
  change.about(factor);
  return (await countRecoveryCodes(tx, user)) === 0 ? replaceRecoveryCodes(tx, user, now) : null;
}

/** Removes a factor. Recovery codes end with the last one. Throws AB07 if the organisation requires a second factor. */
export async function removeFactor(change: Change, user: Owner, factorId: string): Promise<void> {
  const { tx } = change;
  const { organisationId, id: userId } = user;
  // Locked, so that two concurrent removals cannot both leave the other one as the last.
  await tx.execute('select id from users where id = ? and organisation_id = ? for update', [userId, organisationId]);
  const factors = await confirmedFactors(tx, user);
  if (!factors.some((one) => one.id === factorId)) throw notFound('Second factor');
  if (factors.length === 1) {
    if (await isRequired(tx, organisationId)) {
      throw conflict('The organisation requires a second factor, and this is the last one. Add another one first');
    }
    await removeAllFactors(change, user);
  } else await tx.nativeDelete(secondFactors, { id: factorId, organisationId, userId });
  change.about({ id: factorId });
}

/** Removes all factors and recovery codes of a user. */
export async function removeAllFactors(
  { tx }: Change,
  { id: userId, organisationId }: Pick<Owner, 'id' | 'organisationId'>,
): Promise<void> {
  await tx.nativeDelete(secondFactors, { organisationId, userId });
  await tx.execute('delete from recovery_codes where user_id = ? and organisation_id = ?', [userId, organisationId]);
  await tx.execute('delete from pending_sign_ins where user_id = ? and organisation_id = ?', [userId, organisationId]);
}

/**
 * Returns the signed-in user after a check of their password, limited as at sign-in: an unattended session must not change how the
 * user signs in. Throws AB03 for a wrong password and for users without one, who sign in at an identity provider.
 */
export async function reauthenticate(
  em: EntityManager,
  { attempts }: Pick<AdminServices, 'attempts'>,
  { userId, organisationId, sessionId }: { readonly userId: string; readonly organisationId: string; readonly sessionId: string },
  password: string,
): Promise<User> {
  const user = await em.findOneOrFail(users, { id: userId, organisationId }, { populate: ['passwordHash'] });
  if (!user.passwordHash)
    throw forbidden('Second factors are for users with a password. This user signs in at an identity provider');
  const succeeded = attempts.begin(user.email, `session ${sessionId}`);
  if (!succeeded) throw new TooManyRequests(60);
  if (!(await verifyPassword(password, user.passwordHash))) throw new AdminError('AB03', 'current_password: wrong password');
  succeeded();
  return user;
}

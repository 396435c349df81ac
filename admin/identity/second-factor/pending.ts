import { dayMs } from '../../../core/contract/values/time/durations.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { KnownPerson, Unchecked } from '../../http/public-route.ts';
import { organisations } from '../../resources/organisations/entity.ts';
import type { User } from '../../resources/users/entity.ts';
import { hashOf, newSecret, secretIn } from '../one-time-secret.ts';
import { type PendingSignIn, pendingSignIns, secondFactors } from './entity.ts';
import { countRecoveryCodes } from './recovery-codes.ts';

/** Validity in milliseconds: to enter a code, and to set up an authenticator. */
const verifyMs = 300_000;
const enrolMs = 900_000;

/** Reply to a sign-in with the right password if a second factor is missing. */
export interface PendingReply {
  readonly pending_token: string;
  readonly expires_at: string;
  /** Ways to complete the sign-in. Empty: the user must enrol a second factor first. */
  readonly methods: ('totp' | 'webauthn' | 'recovery_code')[];
  readonly object: 'second_factor_required' | 'second_factor_enrolment_required';
}

/**
 * Begins a sign-in that needs a second factor. Null if the user has none and the organisation requires none. The token of the reply
 * is accepted only by the routes that complete the sign-in.
 */
export async function beginPending(
  tx: EntityManager,
  user: Pick<User, 'id' | 'organisationId'>,
  now: number,
): Promise<PendingReply | null> {
  const { id: userId, organisationId } = user;
  const factors = await tx.find(secondFactors, { organisationId, userId, confirmedAt: { $ne: null } });
  const enrols = factors.length === 0;
  if (enrols && !(await isRequired(tx, organisationId))) return null;
  const token = newSecret('svc_pending_');
  const expiresAt = new Date(now + (enrols ? enrolMs : verifyMs));
  tx.create(pendingSignIns, {
    id: newId(),
    organisationId,
    userId,
    tokenHash: hashOf(token),
    enrols,
    challenge: null,
    createdAt: new Date(now),
    expiresAt,
  });
  const hasCodes = !enrols && (await countRecoveryCodes(tx, user)) > 0;
  return {
    pending_token: token,
    expires_at: expiresAt.toISOString(),
    methods: [...new Set(factors.map((one) => one.kind)), ...(hasCodes ? (['recovery_code'] as const) : [])],
    object: enrols ? 'second_factor_enrolment_required' : 'second_factor_required',
  };
}

/** Returns the pending sign-in of a token; null if there is none or it has expired. */
export async function findPending(em: EntityManager, token: string, now: number): Promise<PendingSignIn | null> {
  return em.findOne(pendingSignIns, { tokenHash: hashOf(token), expiresAt: { $gt: new Date(now) } });
}

/** Returns the user of the pending sign-in whose token an unchecked body holds, also of one that has ended; null if there is none. */
export async function userOfPending(em: EntityManager, { body }: Pick<Unchecked, 'body'>): Promise<KnownPerson | null> {
  const token = secretIn(body, 'pending_token');
  return token === null ? null : em.findOne(pendingSignIns, { tokenHash: hashOf(token) });
}

/**
 * Ends a pending sign-in; false if a concurrent request completed it. Its row stays for a while, see `forgetPendings`. The end that was read is
 * compared, because the clock of a concurrent request may be earlier.
 */
export async function usePending(tx: EntityManager, pending: PendingSignIn, now: number): Promise<boolean> {
  const { id, organisationId, expiresAt } = pending;
  return (await tx.nativeUpdate(pendingSignIns, { id, organisationId, expiresAt }, { expiresAt: new Date(now) })) === 1;
}

/** Deletes pending sign-ins a day after their end, so that refused uses have an audit entry until then. */
export async function forgetPendings(em: EntityManager, now: number): Promise<void> {
  await em.nativeDelete(pendingSignIns, { expiresAt: { $lte: new Date(now - dayMs) } });
}

/** True if the organisation requires a second factor from users who sign in with a password. */
export async function isRequired(em: EntityManager, organisationId: string): Promise<boolean> {
  const row = await em.findOne(organisations, { id: organisationId });
  return row?.authSettings?.require_second_factor ?? false;
}

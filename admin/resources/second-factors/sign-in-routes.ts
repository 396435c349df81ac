import * as v from 'valibot';
import type { EntityManager } from '../../db/open-database.ts';
import { AdminError, forbidden, invalid } from '../../http/errors.ts';
import { definePublicRoute, type PublicCall, type PublicRoute } from '../../http/public-route.ts';
import { signedInEntries } from '../../identity/schema.ts';
import { type PendingSignIn, pendingSignIns, type SecondFactor } from '../../identity/second-factor/entity.ts';
import { findPending, usePending, userOfPending } from '../../identity/second-factor/pending.ts';
import { useRecoveryCode } from '../../identity/second-factor/recovery-codes.ts';
import { countTotpAttempt, useTotpCode } from '../../identity/second-factor/totp.ts';
import { signInOptions, useCredential } from '../../identity/second-factor/webauthn.ts';
import { signIn } from '../sessions/sign-in.ts';
import { type User, users } from '../users/entity.ts';
import { mayUsePassword } from '../users/may-use-password.ts';
import {
  confirmPendingBody,
  confirmPendingReply,
  enrolPendingBody,
  enrolReply,
  optionsBody,
  optionsReply,
  type Proof,
  verifyBody,
} from './schema.ts';
import { beginEnrolment, confirmEnrolment, confirmedFactors } from './service.ts';

const isOver = () => new AdminError('AB05', 'pending_token: this sign-in has expired or was completed. Sign in again');
const isWrong = () => new AdminError('AB05', 'The code is wrong, has expired or was used. Enter the current one');

/** Routes that complete a sign-in after the password. Their token is accepted nowhere else. */
export const secondFactorSignInRoutes: readonly PublicRoute[] = [
  definePublicRoute({
    method: 'POST',
    path: '/auth/second-factor/options',
    resource: 'second_factors',
    action: 'options',
    summary: 'Options for a security key, to complete a sign-in',
    reply: optionsReply,
    body: optionsBody,
    personOf: userOfPending,
    async handle(call) {
      const { row, factors } = await open(call, call.body.pending_token, false);
      const keys = factors.filter((one) => one.kind === 'webauthn');
      if (keys.length === 0) throw invalid('pending_token: this user has no security key');
      const options = await signInOptions(call.services.settings, keys);
      const em = call.services.database.emOf(row.organisationId);
      const where = { id: row.id, organisationId: row.organisationId };
      await em.transactional((tx) => tx.nativeUpdate(pendingSignIns, where, { challenge: options.challenge }));
      return { options, object: 'webauthn_options' };
    },
  }),
  definePublicRoute({
    method: 'POST',
    path: '/auth/second-factor/verify',
    resource: 'second_factors',
    action: 'verify',
    summary: 'Complete a sign-in with a code, a recovery code or a security key',
    reply: v.strictObject(signedInEntries),
    body: verifyBody,
    personOf: userOfPending,
    async handle(call) {
      requireOneProof(call.body);
      const { row, factors, person } = await open(call, call.body.pending_token, false);
      const { services } = call;
      const now = services.clock.now();
      const app = factors.find((one) => one.kind === 'totp');
      if (call.body.passcode !== undefined && app) {
        await countTotpAttempt(services.database.emOf(row.organisationId), app, now);
      }
      return call.write(person, async (change) => {
        const user = await completed(change.tx, row, now);
        if (!(await isProven(change.tx, services, { row, user, factors }, call.body, now))) throw isWrong();
        return signIn(change, call, user);
      });
    },
  }),
  definePublicRoute({
    method: 'POST',
    path: '/auth/second-factor/enrol',
    resource: 'second_factors',
    action: 'enrol',
    summary: 'Begin to add a second factor during a sign-in, if the organisation requires one',
    reply: enrolReply,
    body: enrolPendingBody,
    personOf: userOfPending,
    async handle(call) {
      const { row, person } = await open(call, call.body.pending_token, true);
      return call.write(person, async (change) =>
        beginEnrolment(change, call.services, await ownerWithoutFactor(change.tx, row), call.body),
      );
    },
  }),
  definePublicRoute({
    method: 'POST',
    path: '/auth/second-factor/confirm',
    resource: 'second_factors',
    action: 'confirm',
    summary: 'Complete the enrolment of a second factor and the sign-in; the reply contains recovery codes',
    reply: confirmPendingReply,
    body: confirmPendingBody,
    personOf: userOfPending,
    async handle(call) {
      const { row, person } = await open(call, call.body.pending_token, true);
      return call.write(person, async (change) => {
        await ownerWithoutFactor(change.tx, row);
        const user = await completed(change.tx, row, call.services.clock.now());
        const recovery_codes = await confirmEnrolment(change, call.services, user, call.body.factor_id, call.body);
        return { ...(await signIn(change, call, user)), recovery_codes };
      });
    },
  }),
];

/** Returns the pending sign-in of a token with the factors of its user. Throws AB05 unless it is of this kind. */
async function open(call: PublicCall<unknown>, token: string, enrols: boolean) {
  const row = await findPending(call.em, token, call.services.clock.now());
  if (!row) throw isOver();
  const { organisationId, userId } = row;
  if (row.enrols !== enrols) {
    throw invalid(
      `pending_token: this user ${row.enrols ? 'must enrol a second factor first' : 'has a second factor. Verify it'}`,
    );
  }
  const factors = await confirmedFactors(call.em, { id: userId, organisationId });
  return { row, factors, person: { organisationId, userId } };
}

/** Ends the pending sign-in and returns its user. Throws AB05 if a concurrent request did. */
async function completed(tx: EntityManager, row: PendingSignIn, now: number): Promise<User> {
  const user = await ownerOf(tx, row);
  if (!(await usePending(tx, row, now))) throw isOver();
  return user;
}

async function ownerOf(tx: EntityManager, { userId, organisationId }: PendingSignIn): Promise<User> {
  const user = await tx.findOne(users, { id: userId, organisationId });
  if (!user) throw isOver();
  // The organisation may have required it since the password was checked.
  if (!(await mayUsePassword(tx, user))) throw forbidden('This organisation requires single sign-on. Sign in without a password');
  return user;
}

/**
 * Returns the user of a pending sign-in that enrols. Throws AB05 if the user has a second factor by now: the password alone must neither
 * add another one nor complete the sign-in. The lock makes concurrent confirmations wait for each other.
 */
async function ownerWithoutFactor(tx: EntityManager, row: PendingSignIn): Promise<User> {
  const { userId: id, organisationId } = row;
  await tx.execute('select id from users where id = ? and organisation_id = ? for update', [id, organisationId]);
  if ((await confirmedFactors(tx, { id, organisationId })).length > 0) throw isOver();
  return ownerOf(tx, row);
}

function requireOneProof({ passcode, recovery_code, credential }: Proof): void {
  if ([passcode, recovery_code, credential].filter((one) => one !== undefined).length === 1) return;
  throw invalid('passcode: send exactly one of passcode, recovery_code and credential');
}

interface Proving {
  readonly row: PendingSignIn;
  readonly user: User;
  readonly factors: readonly SecondFactor[];
}

async function isProven(
  tx: EntityManager,
  { vault, settings }: PublicCall<unknown>['services'],
  { row, user, factors }: Proving,
  { passcode, recovery_code, credential }: Proof,
  now: number,
): Promise<boolean> {
  if (recovery_code !== undefined) return useRecoveryCode(tx, user, recovery_code);
  if (passcode !== undefined) {
    const app = factors.find((one) => one.kind === 'totp');
    return app !== undefined && useTotpCode(tx, vault, app, passcode, now);
  }
  return Boolean(row.challenge) && useCredential(tx, settings, factors, row.challenge ?? '', credential, now);
}

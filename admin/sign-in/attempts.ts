import type { Settings } from '../../config/settings.ts';
import { ownCookies } from '../../core/contract/values/http/own-cookies.ts';
import { newId } from '../db/new-id.ts';
import type { EntityManager } from '../db/open-database.ts';
import { readCookie, writeCookie } from '../identity/cookies.ts';
import { hashOf, newSecret } from '../identity/one-time-secret.ts';
import { type SignInAttempt, type SsoConnection, signInAttempts } from '../resources/sso-connections/entity.ts';
import type { SealContext, Vault } from '../secrets/vault.ts';
import { SignInRefusal } from './refusal.ts';

/** Time to sign in at the identity provider, in milliseconds. */
const attemptMs = 10 * 60_000;
const cookieName = ownCookies.signIn;

/** A browser may have several sign-ins open, each in a tab. They share the secret of the cookie. */
const secretPattern = /^svc_browser_[A-Za-z0-9_-]{43}$/;

interface Services {
  readonly settings: Settings;
  readonly vault: Vault;
  readonly clock: { now(): number };
}

export interface BegunAttempt {
  /** Sent to the provider as `state` or `RelayState`. */
  readonly state: string;
  /** `set-cookie` that binds the attempt to the browser. */
  readonly cookie: string;
}

/**
 * Stores a sign-in that is about to leave for the identity provider. `cookies` is the `cookie` header of the request; `data` is returned
 * by `takeAttempt`.
 */
export async function beginAttempt(
  tx: EntityManager,
  services: Services,
  connection: SsoConnection,
  sent: { readonly cookies: string | undefined; readonly returnTo: string | null; readonly data: object },
): Promise<BegunAttempt> {
  const now = services.clock.now();
  const known = readCookie(sent.cookies, cookieName, services.settings);
  const browser = known !== null && secretPattern.test(known) ? known : newSecret('svc_browser_');
  const state = newSecret('');
  const { organisationId, id: connectionId } = connection;
  const id = newId();
  tx.create(signInAttempts, {
    id,
    organisationId,
    connectionId,
    stateHash: hashOf(state),
    browserHash: hashOf(browser),
    secrets: await services.vault.seal(tx, contextOf({ id, organisationId }), JSON.stringify(sent.data)),
    returnTo: sent.returnTo,
    createdAt: new Date(now),
    expiresAt: new Date(now + attemptMs),
  });
  return { state, cookie: writeCookie(cookieName, browser, new Date(now + attemptMs), services.settings) };
}

/** Finds the attempt of a `state`. Null if there is none: it is unknown, expired or used. */
export async function findAttempt(em: EntityManager, state: string): Promise<SignInAttempt | null> {
  return em.findOne(signInAttempts, { stateHash: hashOf(state) });
}

/**
 * Consumes an attempt and returns its data. Throws SignInRefusal if it has expired, was used concurrently, or began in another browser.
 */
export async function takeAttempt(
  em: EntityManager,
  services: Services,
  attempt: SignInAttempt,
  cookies: string | undefined,
): Promise<unknown> {
  const browser = readCookie(cookies, cookieName, services.settings);
  // The attempt stays: otherwise anyone who sees a state could end it.
  if (browser === null || hashOf(browser) !== attempt.browserHash) {
    throw new SignInRefusal('other_browser', 'This sign-in began in another browser. Begin again in this one');
  }
  const { id, organisationId } = attempt;
  const taken = await em.nativeDelete(signInAttempts, { id, organisationId });
  if (taken === 0 || attempt.expiresAt.getTime() <= services.clock.now()) throw attemptIsOver();
  return JSON.parse(await services.vault.open(em, contextOf(attempt), attempt.secrets));
}

export function attemptIsOver(): SignInRefusal {
  return new SignInRefusal('attempt_expired', 'This sign-in has expired or was used. Begin again');
}

/** Deletes attempts that have ended. */
export function forgetAttempts(em: EntityManager, now: Date): Promise<number> {
  return em.nativeDelete(signInAttempts, { expiresAt: { $lte: now } });
}

function contextOf({ id, organisationId }: Pick<SignInAttempt, 'id' | 'organisationId'>): SealContext {
  return { organisationId, table: 'sign_in_attempts', column: 'secrets', rowId: id };
}

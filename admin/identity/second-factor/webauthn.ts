import { isIP } from 'node:net';
import type { AuthenticationResponseJSON, AuthenticatorTransport, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { Settings } from '../../../config/settings.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { invalid } from '../../http/errors.ts';
import { type SecondFactor, secondFactors } from './entity.ts';

/** Loaded at the first use: the library and its certificate parsers take memory that few control planes need. */
const library = () => import('@simplewebauthn/server');

type Names = Pick<Settings, 'publicUrl'>;

/** Browsers bind credentials to this host and accept only host names. Throws AB01 if PUBLIC_URL has an address. */
function relyingParty({ publicUrl }: Names): { id: string; origin: string } {
  const { hostname, origin } = new URL(publicUrl);
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) {
    throw invalid('kind: webauthn needs a host name in PUBLIC_URL, because browsers accept no IP address. Use totp instead');
  }
  return { id: hostname, origin };
}

/** Options for `navigator.credentials.create`. Their challenge is stored in the factor. */
export async function enrolmentOptions(
  settings: Names,
  factor: SecondFactor,
  account: string,
  others: readonly SecondFactor[],
): Promise<Record<string, unknown>> {
  const { generateRegistrationOptions } = await library();
  const options = await generateRegistrationOptions({
    rpName: 'Gateway',
    rpID: relyingParty(settings).id,
    userName: account,
    userID: new Uint8Array(Buffer.from(factor.userId.replaceAll('-', ''), 'hex')),
    attestationType: 'none',
    excludeCredentials: credentialsOf(others),
    authenticatorSelection: { residentKey: 'discouraged', userVerification: 'preferred' },
  });
  factor.challenge = options.challenge;
  return options as unknown as Record<string, unknown>;
}

/** Checks the reply of an authenticator to `enrolmentOptions` and stores its public key. False if it is not valid. */
export async function confirmCredential(settings: Names, factor: SecondFactor, sent: unknown): Promise<boolean> {
  const { verifyRegistrationResponse } = await library();
  const { id, origin } = relyingParty(settings);
  if (!factor.challenge) return false;
  const found = await verifyRegistrationResponse({
    response: sent as RegistrationResponseJSON,
    expectedChallenge: factor.challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: false,
  }).catch(() => null);
  if (!found?.verified) return false;
  const { credential } = found.registrationInfo;
  factor.challenge = null;
  factor.credentialId = credential.id;
  factor.publicKey = Buffer.from(credential.publicKey).toString('base64url');
  factor.signCount = credential.counter;
  factor.transports = credential.transports ?? null;
  return true;
}

/** Options for `navigator.credentials.get` with the credentials of one user. */
export async function signInOptions(settings: Names, factors: readonly SecondFactor[]) {
  const { generateAuthenticationOptions } = await library();
  return generateAuthenticationOptions({
    rpID: relyingParty(settings).id,
    allowCredentials: credentialsOf(factors),
    userVerification: 'preferred',
  });
}

/** Checks the reply of an authenticator to `signInOptions`. False for wrong signatures and for copied authenticators. */
export async function useCredential(
  tx: EntityManager,
  settings: Names,
  factors: readonly SecondFactor[],
  challenge: string,
  sent: unknown,
  now: number,
): Promise<boolean> {
  const { verifyAuthenticationResponse } = await library();
  const { id: expectedRPID, origin } = relyingParty(settings);
  const named = (sent as { readonly id?: unknown }).id;
  const factor = factors.find((one) => one.kind === 'webauthn' && one.credentialId === named);
  if (!factor?.credentialId || !factor.publicKey) return false;
  const counter = factor.signCount;
  const found = await verifyAuthenticationResponse({
    response: sent as AuthenticationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID,
    requireUserVerification: false,
    credential: { id: factor.credentialId, publicKey: new Uint8Array(Buffer.from(factor.publicKey, 'base64url')), counter },
  }).catch(() => null);
  if (!found?.verified) return false;
  // A concurrent sign-in with the same counter must fail, too.
  const used = await tx.nativeUpdate(
    secondFactors,
    { id: factor.id, organisationId: factor.organisationId, signCount: counter },
    { signCount: found.authenticationInfo.newCounter, lastUsedAt: new Date(now) },
  );
  return used === 1;
}

function credentialsOf(factors: readonly SecondFactor[]) {
  return factors.flatMap(({ credentialId, transports }) =>
    credentialId ? [{ id: credentialId, transports: (transports ?? []) as AuthenticatorTransport[] }] : [],
  );
}

import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A second factor of a user: an authenticator app (TOTP) or a security key or passkey (WebAuthn). */
export const secondFactors = defineEntity({
  name: 'SecondFactor',
  tableName: 'second_factors',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    userId: p.uuid(),
    kind: p.text().$type<'totp' | 'webauthn'>(),
    name: p.text(),
    /** TOTP: the shared secret in base32, sealed. */
    secret: p.text().nullable(),
    /** TOTP: the latest accepted time step. Codes of it and of earlier steps are refused. */
    lastStep: p.bigint('number').nullable(),
    /** TOTP: codes entered since `failuresSince` without success. */
    failures: p.integer(),
    failuresSince: p.datetime().nullable(),
    /** WebAuthn: id and public key of the credential in base64url. */
    credentialId: p.text().nullable(),
    publicKey: p.text().nullable(),
    signCount: p.bigint('number'),
    transports: p.json().$type<readonly string[]>().nullable(),
    /** WebAuthn: the challenge of the enrolment, until it is confirmed. */
    challenge: p.text().nullable(),
    createdAt: p.datetime(),
    /** Null: the enrolment is not complete, and the factor is not used. */
    confirmedAt: p.datetime().nullable(),
    lastUsedAt: p.datetime().nullable(),
  },
});

export type SecondFactor = InferEntity<typeof secondFactors>;

/** A single-use code for users who lost their second factors. Stores only its hash. */
export const recoveryCodes = defineEntity({
  name: 'RecoveryCode',
  tableName: 'recovery_codes',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    userId: p.uuid(),
    codeHash: p.text(),
    createdAt: p.datetime(),
  },
});

/** A sign-in whose password was right and whose second factor is missing. Stores only the hash of its token. */
export const pendingSignIns = defineEntity({
  name: 'PendingSignIn',
  tableName: 'pending_sign_ins',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    userId: p.uuid(),
    tokenHash: p.text(),
    /** True if the user has no second factor and must enrol one. */
    enrols: p.boolean(),
    /** The latest WebAuthn challenge. */
    challenge: p.text().nullable(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
  },
});

export type PendingSignIn = InferEntity<typeof pendingSignIns>;

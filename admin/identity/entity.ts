import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** Session of a signed-in user. Stores only the hash of the token. */
export const sessions = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    userId: p.uuid(),
    tokenHash: p.text(),
    createdAt: p.datetime(),
    /** Accurate to the minute. */
    lastSeenAt: p.datetime(),
    expiresAt: p.datetime(),
    clientIp: p.text(),
    userAgent: p.text().nullable(),
    /** The sign-in of an identity provider that began the session; null: password. */
    connectionId: p.uuid().nullable(),
    identityId: p.uuid().nullable(),
    /** Id of the session at the identity provider (`sid`, `SessionIndex`), for its logout requests. */
    providerSession: p.text().nullable(),
    /** Sealed hint for logout at the provider: the ID token, or the NameID of SAML as JSON. */
    logoutHint: p.text().nullable().name('id_token'),
    /** Hashes of both parts of the refresh token. The family stays, the other part changes with every use. */
    refreshFamily: p.text().nullable(),
    refreshHash: p.text().nullable(),
  },
});

export type Session = InferEntity<typeof sessions>;

/** A single-use link, to set a password or to verify an e-mail address. Stores only the hash of its token. */
export const oneTimeTokens = defineEntity({
  name: 'OneTimeToken',
  tableName: 'one_time_tokens',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    userId: p.uuid(),
    purpose: p.text().$type<'set-password' | 'verify-email'>(),
    tokenHash: p.text(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
  },
});

export type OneTimeToken = InferEntity<typeof oneTimeTokens>;

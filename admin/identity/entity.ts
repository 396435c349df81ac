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

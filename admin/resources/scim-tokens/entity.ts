import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A token with which a directory provisions users and groups of one organisation. Stores only hashes of the secret. */
export const scimTokens = defineEntity({
  name: 'ScimToken',
  tableName: 'scim_tokens',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    name: p.text(),
    tokenHash: p.text(),
    lastCharacters: p.text(),
    /** Hash of the secret before the last rotation, valid until `previousExpiresAt`. */
    previousHash: p.text().nullable(),
    previousExpiresAt: p.datetime().nullable(),
    expiresAt: p.datetime().nullable(),
    /** Accurate to the minute. */
    lastUsedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

export type ScimToken = InferEntity<typeof scimTokens>;

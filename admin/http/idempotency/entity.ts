import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A create with an `idempotency-key`, and its reply. */
export const idempotencyKeys = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_keys',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    /** Hash of tenant, caller, route and key. */
    digest: p.text(),
    /** Hash of query and body. A key may not be used for two different requests. */
    requestHash: p.text(),
    /** Sealed by the vault, because replies may hold a new secret; null until the reply is known. */
    reply: p.text().nullable(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
  },
});

export type IdempotencyKey = InferEntity<typeof idempotencyKeys>;

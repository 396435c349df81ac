import { defineEntity, p } from '@mikro-orm/core';

/** A cached reply, sealed by the gateways. */
export const cachedReplies = defineEntity({
  name: 'CachedReply',
  tableName: 'cached_replies',
  properties: {
    workspaceId: p.uuid().primary(),
    /** Digest of everything the reply depends on. */
    digest: p.text().primary(),
    organisationId: p.uuid(),
    sealed: p.blob(),
    bytes: p.integer(),
    namespace: p.text().nullable(),
    model: p.text().nullable(),
    /** Name of the endpoint, such as `chatComplete`. */
    endpoint: p.text().nullable(),
    /** Digest of what requests with similar texts must have in common; null: found by its digest only. */
    partition: p.text().nullable(),
    /** The embedding of the request's text, sealed by the control plane. */
    vector: p.blob().nullable().lazy(),
    /** Grows with each store. */
    seq: p.bigint('number'),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
  },
});

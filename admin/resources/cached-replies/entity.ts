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
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
  },
});

import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A workspace's use of an integration; its slug is what callers write as `@slug`. */
export const providers = defineEntity({
  name: 'Provider',
  tableName: 'providers',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    integrationId: p.uuid(),
    slug: p.text(),
    name: p.text(),
    note: p.text().nullable(),
    expiresAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

export type Provider = InferEntity<typeof providers>;

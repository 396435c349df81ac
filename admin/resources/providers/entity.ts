import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { RateLimit, UsageLimits } from '../../limits/schema.ts';

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
    usageLimits: p.json().$type<UsageLimits>().nullable(),
    rateLimits: p.json().$type<RateLimit[]>(),
    /** Earlier usage does not count. */
    lastResetAt: p.datetime().nullable(),
    /** Time at which the budget was used up. */
    exhaustedAt: p.datetime().nullable(),
    tags: p.json().$type<Record<string, unknown>>().nullable(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

export type Provider = InferEntity<typeof providers>;

import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { ApiKeyType } from '../../../core/contract/values/credentials/api-key.ts';
import type { RateLimit, UsageLimits } from '../../limits/schema.ts';
import { optionProperties } from './options.ts';

/** One API key. Stores no secret: only its digest, the public id that finds it, and its last characters for display. */
export const apiKeys = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid().nullable(),
    userId: p.uuid().nullable(),
    type: p.text().$type<ApiKeyType>(),
    name: p.text(),
    publicId: p.text(),
    digest: p.text(),
    lastCharacters: p.text(),
    /** During the transition of a rotation: the previous secret, and the time until which it is valid. */
    previousDigest: p.text().nullable(),
    previousExpiresAt: p.datetime().nullable(),
    /** Current scopes of the key: the granted scopes that its grantor may still grant. */
    scopes: p.json().$type<string[]>(),
    /** Scopes originally granted. Null in older rows; `scopes` then holds them. */
    grantedScopes: p.json().$type<string[]>().nullable(),
    /** The key, or the user of a session, that granted its scopes. Null: the installation itself. */
    grantedByKeyId: p.uuid().nullable(),
    grantedByUserId: p.uuid().nullable(),
    defaultConfigId: p.uuid().nullable(),
    defaultMetadata: p.json().$type<Record<string, string>>(),
    allowConfigOverride: p.boolean(),
    usageLimits: p.json().$type<UsageLimits>().nullable(),
    rateLimits: p
      .json()
      .$type<RateLimit[]>()
      .onCreate(() => []),
    /** Time at which its budget was used up. */
    exhaustedAt: p.datetime().nullable(),
    /** Time at which its usage was last reset. */
    lastResetAt: p.datetime().nullable(),
    rotationPeriod: p.text().$type<'weekly' | 'monthly'>().nullable(),
    rotationPeriodDays: p.integer().nullable(),
    /** Time at which the current secret must be rotated. */
    nextRotationAt: p.datetime().nullable(),
    keyTransitionPeriodMs: p.bigint('number').nullable(),
    /** Time at which the current secret stops working unless the key is rotated before: `nextRotationAt` and the transition. */
    secretExpiresAt: p.datetime().nullable(),
    lastRotatedAt: p.datetime().nullable(),
    /** The `nextRotationAt` for which a notice was sent. */
    rotationNoticeAt: p.datetime().nullable(),
    ...optionProperties,
    creationMode: p.text().$type<'ui' | 'api' | 'auto'>(),
    expiresAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

export type ApiKey = InferEntity<typeof apiKeys>;

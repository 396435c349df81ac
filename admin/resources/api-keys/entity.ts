import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

export type ApiKeyType = 'organisation-service' | 'workspace-service' | 'workspace-user';

/** One API key. The secret is not here: only its digest, the public id it is found by, and the last characters for people. */
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
    description: p.text().nullable(),
    publicId: p.text(),
    digest: p.text(),
    lastCharacters: p.text(),
    /** While a rotation is in transition: the secret before, and until when it is good. */
    previousDigest: p.text().nullable(),
    previousExpiresAt: p.datetime().nullable(),
    scopes: p.json().$type<string[]>(),
    defaultConfigId: p.uuid().nullable(),
    defaultMetadata: p.json().$type<Record<string, string>>(),
    allowConfigOverride: p.boolean(),
    creationMode: p.text().$type<'ui' | 'api' | 'auto'>(),
    expiresAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

export type ApiKey = InferEntity<typeof apiKeys>;

import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A saved config: a name and slug that point to its newest version. At most one per workspace is the default. */
export const configs = defineEntity({
  name: 'Config',
  tableName: 'configs',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    slug: p.text(),
    name: p.text(),
    isDefault: p.boolean(),
    status: p.text().$type<'active' | 'archived'>(),
    versionId: p.uuid(),
    ownerId: p.uuid().nullable(),
    updatedBy: p.uuid().nullable(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

/** One version of a config. Versions never change once written. */
export const configVersions = defineEntity({
  name: 'ConfigVersion',
  tableName: 'config_versions',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    configId: p.uuid(),
    number: p.integer(),
    config: p.json().$type<Record<string, unknown>>(),
    ownerId: p.uuid().nullable(),
    createdAt: p.datetime(),
  },
});

export type Config = InferEntity<typeof configs>;
export type ConfigVersion = InferEntity<typeof configVersions>;

import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A part of an organisation with its own providers, configs and keys. Exactly one per organisation is the default. */
export const workspaces = defineEntity({
  name: 'Workspace',
  tableName: 'workspaces',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    slug: p.text(),
    name: p.text(),
    description: p.text().nullable(),
    icon: p.text().nullable(),
    isDefault: p.boolean(),
    metadata: p.json().$type<Record<string, string>>(),
    status: p.text().$type<'active' | 'archived'>(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

export type Workspace = InferEntity<typeof workspaces>;

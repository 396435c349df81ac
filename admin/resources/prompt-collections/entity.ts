import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A folder of prompts, partials and tools. Collections of a workspace form a tree. Each workspace has one default collection. */
export const promptCollections = defineEntity({
  name: 'PromptCollection',
  tableName: 'prompt_collections',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    slug: p.text(),
    name: p.text(),
    parentCollectionId: p.uuid().nullable(),
    isDefault: p.boolean(),
    status: p.text().$type<'active' | 'archived'>(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

export type PromptCollection = InferEntity<typeof promptCollections>;

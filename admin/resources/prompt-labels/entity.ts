import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** Names of the labels that every organisation has. They cannot be changed or deleted. */
export const universalLabels = ['production', 'staging', 'development'] as const;

/** A name for versions of prompts, such as `production`. Without a workspace, all prompts of the organisation can use it. */
export const promptLabels = defineEntity({
  name: 'PromptLabel',
  tableName: 'prompt_labels',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid().nullable(),
    name: p.text(),
    description: p.text().nullable(),
    colorCode: p.text().nullable(),
    isUniversal: p.boolean(),
    status: p.text().$type<'active' | 'archived'>(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

export type PromptLabel = InferEntity<typeof promptLabels>;

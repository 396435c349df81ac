import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A tool of the tool library: a name and slug for the versions of its definition. */
export const promptTools = defineEntity({
  name: 'PromptTool',
  tableName: 'prompt_tools',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    collectionId: p.uuid(),
    slug: p.text(),
    name: p.text(),
    status: p.text().$type<'active' | 'archived'>(),
    /** Number of the published version. */
    version: p.integer(),
    /** Number of the newest version. */
    latestVersion: p.integer(),
    ownerId: p.uuid(),
    updatedBy: p.uuid(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

/** One version of a tool. Versions are immutable, except for `description`. */
export const promptToolVersions = defineEntity({
  name: 'PromptToolVersion',
  tableName: 'prompt_tool_versions',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    toolId: p.uuid(),
    number: p.integer(),
    /** In the language of the field `tools` of requests. */
    definition: p.json().$type<Record<string, unknown>>(),
    description: p.text().nullable(),
    ownerId: p.uuid(),
    createdAt: p.datetime(),
  },
});

export type PromptTool = InferEntity<typeof promptTools>;
export type PromptToolVersion = InferEntity<typeof promptToolVersions>;

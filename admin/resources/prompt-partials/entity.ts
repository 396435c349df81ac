import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A text that prompts include with `{{>slug}}`: a name and slug for its versions. */
export const promptPartials = defineEntity({
  name: 'PromptPartial',
  tableName: 'prompt_partials',
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
    /** `['organisation']`, or ids of workspaces; null: not shared. */
    sharedWith: p.array().nullable(),
    ownerId: p.uuid(),
    updatedBy: p.uuid(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

/** One version of a partial. Versions are immutable, except for `description`. */
export const promptPartialVersions = defineEntity({
  name: 'PromptPartialVersion',
  tableName: 'prompt_partial_versions',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    partialId: p.uuid(),
    number: p.integer(),
    string: p.text(),
    description: p.text().nullable(),
    ownerId: p.uuid(),
    createdAt: p.datetime(),
  },
});

export type PromptPartial = InferEntity<typeof promptPartials>;
export type PromptPartialVersion = InferEntity<typeof promptPartialVersions>;

import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A prompt: a name and slug for its versions. */
export const prompts = defineEntity({
  name: 'Prompt',
  tableName: 'prompts',
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

/** One version of a prompt. Versions are immutable, except for `virtualKey` and `description`. */
export const promptVersions = defineEntity({
  name: 'PromptVersion',
  tableName: 'prompt_versions',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    promptId: p.uuid(),
    number: p.integer(),
    string: p.text(),
    isRawTemplate: p.boolean(),
    /** Without `model`. */
    parameters: p.json().$type<Record<string, unknown>>(),
    model: p.text().nullable(),
    /** Slug of a provider of the workspace. */
    virtualKey: p.text().nullable(),
    functions: p.json().$type<Record<string, unknown>[]>().nullable(),
    tools: p.json().$type<Record<string, unknown>[]>().nullable(),
    toolChoice: p.json().$type<Record<string, unknown> | string>().nullable(),
    templateMetadata: p.json().$type<Record<string, unknown>>().nullable(),
    description: p.text().nullable(),
    ownerId: p.uuid(),
    createdAt: p.datetime(),
  },
});

/** A version that a label names, with its share of the requests. */
export interface LabelledVersion {
  version: number;
  weight: number;
}

/** The versions of a prompt that a label names. */
export const promptLabelVersions = defineEntity({
  name: 'PromptLabelVersions',
  tableName: 'prompt_label_versions',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    promptId: p.uuid(),
    labelId: p.uuid(),
    /** Empty if the label was removed from the prompt. */
    versions: p.json().$type<LabelledVersion[]>(),
    /** The versions before the last change, for its reversal. */
    previous: p.json().$type<LabelledVersion[]>(),
    updatedBy: p.uuid(),
    lastUpdatedAt: p.datetime(),
  },
});

export type Prompt = InferEntity<typeof prompts>;
export type PromptVersion = InferEntity<typeof promptVersions>;
export type PromptLabelVersions = InferEntity<typeof promptLabelVersions>;

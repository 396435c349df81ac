import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

export type BatchStatus =
  | 'validating'
  | 'in_progress'
  | 'finalizing'
  | 'completed'
  | 'failed'
  | 'expired'
  | 'cancelling'
  | 'cancelled';

export interface BatchIssue {
  readonly code: string;
  readonly line: number | null;
  readonly message: string;
  readonly param: string | null;
}

/** A batch that the service runs itself, line by line through a gateway. */
export const batches = defineEntity({
  name: 'Batch',
  tableName: 'batches',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    createdByKey: p.uuid(),
    createdByUser: p.uuid().nullable(),
    endpoint: p.text(),
    inputFileId: p.uuid(),
    /** Set at the creation, so that repeated writes produce the same files. */
    outputFileId: p.uuid(),
    errorFileId: p.uuid(),
    internalOutputFileId: p.text().nullable(),
    completionWindow: p.text(),
    status: p.text().$type<BatchStatus>(),
    metadata: p.json().$type<Record<string, string>>().nullable(),
    /** Headers of its lines, sealed because they may hold credentials. */
    sealedHeaders: p.text().nullable(),
    errors: p.json().$type<readonly BatchIssue[]>().nullable(),
    total: p.integer(),
    completed: p.integer(),
    failed: p.integer(),
    inputTokens: p.bigint('number'),
    /** The part of the input that was read from caches of providers. */
    cachedTokens: p.bigint('number'),
    outputTokens: p.bigint('number'),
    /** The part of the output that was reasoning. */
    reasoningTokens: p.bigint('number'),
    /** Time of each state: `in_progress_at`, `completed_at`, …, in seconds. */
    times: p.json().$type<Record<string, number>>(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    revision: p.integer().version(),
  },
});

/** One request of a batch and, after it was run, its line of the output. */
export const batchLines = defineEntity({
  name: 'BatchLine',
  tableName: 'batch_lines',
  properties: {
    batchId: p.uuid().primary(),
    lineNumber: p.integer().primary(),
    organisationId: p.uuid(),
    customId: p.text(),
    url: p.text(),
    /** The unchanged JSON. */
    body: p.text(),
    attempts: p.integer(),
    nextAt: p.datetime().nullable(),
    result: p.text().nullable(),
    isError: p.boolean().nullable(),
    inputTokens: p.integer(),
    cachedTokens: p.integer(),
    outputTokens: p.integer(),
    reasoningTokens: p.integer(),
  },
});

export type Batch = InferEntity<typeof batches>;
export type BatchLine = InferEntity<typeof batchLines>;

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
    /** Known from the beginning, so that writing them a second time writes the same files. */
    outputFileId: p.uuid(),
    errorFileId: p.uuid(),
    internalOutputFileId: p.text().nullable(),
    completionWindow: p.text(),
    status: p.text().$type<BatchStatus>(),
    metadata: p.json().$type<Record<string, string>>().nullable(),
    /** Headers its lines are sent with, sealed: they may carry credentials. */
    sealedHeaders: p.text().nullable(),
    errors: p.json().$type<readonly BatchIssue[]>().nullable(),
    total: p.integer(),
    completed: p.integer(),
    failed: p.integer(),
    inputTokens: p.bigint('number'),
    outputTokens: p.bigint('number'),
    /** Time of each state: `in_progress_at`, `completed_at`, …, in seconds. */
    times: p.json().$type<Record<string, number>>(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    revision: p.integer().version(),
  },
});

/** One request of a batch and, once there is one, its line of the output. */
export const batchLines = defineEntity({
  name: 'BatchLine',
  tableName: 'batch_lines',
  properties: {
    batchId: p.uuid().primary(),
    lineNumber: p.integer().primary(),
    organisationId: p.uuid(),
    customId: p.text(),
    url: p.text(),
    /** JSON as it came. */
    body: p.text(),
    attempts: p.integer(),
    nextAt: p.datetime().nullable(),
    result: p.text().nullable(),
    isError: p.boolean().nullable(),
    inputTokens: p.integer(),
    outputTokens: p.integer(),
  },
});

export type Batch = InferEntity<typeof batches>;
export type BatchLine = InferEntity<typeof batchLines>;

import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A guardrail check with its parameters, as in configs. It holds no secret. */
export interface StoredCheck {
  readonly id: string;
  readonly name?: string | undefined;
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  readonly is_enabled?: boolean | undefined;
}

/** Variables of one request, and the checks of its output beside those of the whole set. */
export interface TestRow {
  readonly name: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly checks: readonly StoredCheck[];
}

/** Rows of variables that versions of prompts are run over. */
export const promptTestSets = defineEntity({
  name: 'PromptTestSet',
  tableName: 'prompt_test_sets',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    slug: p.text(),
    name: p.text(),
    rows: p.json().$type<readonly TestRow[]>(),
    /** Checks of every output. */
    checks: p.json().$type<readonly StoredCheck[]>(),
    /** Slugs of saved guardrails that check every output. */
    guardrails: p.json().$type<readonly string[]>(),
    ownerId: p.uuid(),
    updatedBy: p.uuid(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

/** A saved guardrail of a run. `workspaceId` null: of the organisation. */
export interface RunGuardrail {
  readonly id: string;
  readonly workspaceId: string | null;
}

/** A run of one version of a prompt over the rows that a test set had at its start. */
export const promptTestRuns = defineEntity({
  name: 'PromptTestRun',
  tableName: 'prompt_test_runs',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    testSetId: p.uuid(),
    promptId: p.uuid(),
    promptSlug: p.text(),
    promptVersion: p.integer(),
    promptVersionId: p.uuid(),
    status: p.text().$type<'in_progress' | 'success' | 'cancelled' | 'failed'>(),
    /** Reason of `failed`. */
    error: p.text().nullable(),
    /** The API key that makes the calls. */
    keyId: p.uuid(),
    guardrails: p.json().$type<readonly RunGuardrail[]>(),
    rowsTotal: p.integer(),
    ownerId: p.uuid(),
    createdAt: p.datetime(),
    finishedAt: p.datetime().nullable(),
  },
});

/** One row of a run and its result. A row with a status and no end waits for its checks. */
export const promptTestResults = defineEntity({
  name: 'PromptTestResult',
  tableName: 'prompt_test_results',
  properties: {
    runId: p.uuid().primary(),
    /** The first row is 0. */
    rowNumber: p.integer().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    name: p.text().nullable(),
    variables: p.json().$type<Readonly<Record<string, unknown>>>(),
    /** Those of the set and of the row. */
    checks: p.json().$type<readonly StoredCheck[]>(),
    attempts: p.integer(),
    nextAt: p.datetime().nullable(),
    /** Status of the reply; null before it arrived. */
    status: p.integer().nullable(),
    /** A `ResultContent`, sealed; null before the reply. */
    content: p.blob().nullable(),
    latencyMs: p.double().nullable(),
    inputTokens: p.integer(),
    outputTokens: p.integer(),
    /** Sum of the records of the row's calls in nano-USD; null until the first arrives. */
    costNano: p.bigint('number').nullable(),
    /** True if all checks passed; null without checks, or if they could not run. */
    verdict: p.boolean().nullable(),
    finishedAt: p.datetime().nullable(),
  },
});

export type PromptTestSet = InferEntity<typeof promptTestSets>;
export type PromptTestRun = InferEntity<typeof promptTestRuns>;
export type PromptTestResult = InferEntity<typeof promptTestResults>;

import type { PromptTestResult, PromptTestRun, PromptTestSet } from './entity.ts';
import type { RunSums } from './read-runs.ts';
import type { OpenedContent } from './result-content.ts';

const nanoUsdPerCent = 10_000_000;

/** A test set as lists show it. */
export function toSetRow(row: PromptTestSet) {
  return {
    ...{ id: row.id, slug: row.slug, name: row.name, rows_total: row.rows.length, owner_id: row.ownerId },
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    object: 'prompt-test-set' as const,
  };
}

export function toSet(row: PromptTestSet) {
  return { ...toSetRow(row), rows: row.rows, checks: row.checks, guardrails: row.guardrails };
}

export function toRun(run: PromptTestRun, sums: RunSums) {
  return {
    ...{ id: run.id, test_set_id: run.testSetId, status: run.status, error: run.error ?? null, api_key_id: run.keyId },
    ...{ prompt_id: run.promptId, prompt_slug: run.promptSlug },
    ...{ prompt_version: run.promptVersion, prompt_version_id: run.promptVersionId },
    ...{ rows_total: run.rowsTotal, rows_done: sums.done, rows_failed: sums.failed },
    ...{ rows_passed: sums.passed, rows_rejected: sums.rejected },
    ...{ cost: sums.costNano / nanoUsdPerCent, average_latency: sums.latencyMs },
    ...{ input_tokens: sums.inputTokens, output_tokens: sums.outputTokens, owner_id: run.ownerId },
    created_at: run.createdAt.toISOString(),
    finished_at: run.finishedAt?.toISOString() ?? null,
    object: 'prompt-test-run' as const,
  };
}

/** `content` null: the caller may not see it. */
export function toOutcome(row: PromptTestResult, content: OpenedContent | null) {
  const { output, error, checkResults, omitted } = content ?? hidden;
  return {
    ...{ status: row.status ?? null, output, error },
    ...{ verdict: row.verdict ?? null, check_results: checkResults, omitted },
    cost: typeof row.costNano === 'number' ? row.costNano / nanoUsdPerCent : null,
    ...{ latency: row.latencyMs ?? null, input_tokens: row.inputTokens, output_tokens: row.outputTokens },
    finished_at: row.finishedAt?.toISOString() ?? null,
  };
}

const hidden = { output: null, error: null, checkResults: [], omitted: 'no_access' } as const;

/** Converts a result. A `content` of null means that the caller may not read it: `omitted` is then `no_access`. */
export function toResult(row: PromptTestResult, content: OpenedContent | null) {
  return { row: row.rowNumber, name: row.name ?? null, variables: row.variables, ...toOutcome(row, content) };
}

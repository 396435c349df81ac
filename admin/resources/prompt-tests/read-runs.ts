import type { FilterQuery } from '@mikro-orm/core';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Tenant } from '../../db/tenant.ts';
import { notFound } from '../../http/errors.ts';
import { type PromptTestResult, type PromptTestRun, promptTestRuns } from './entity.ts';

/** Sums over the rows of a run. */
export interface RunSums {
  readonly done: number;
  readonly failed: number;
  readonly passed: number;
  readonly rejected: number;
  readonly costNano: number;
  /** Null before the first reply. */
  readonly latencyMs: number | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Returns a run by id. Throws AB08. */
export async function findRun(em: EntityManager, { organisationId, workspaceId }: Tenant, id: string): Promise<PromptTestRun> {
  const where: FilterQuery<PromptTestRun> = { id, organisationId, ...(workspaceId === null ? {} : { workspaceId }) };
  const found = isUuid(id) ? await em.findOne(promptTestRuns, where) : null;
  if (!found) throw notFound('Test run');
  return found;
}

/** Returns the sums of runs of one organisation, by id of the run. */
export async function sumsOf(em: EntityManager, runs: readonly PromptTestRun[]): Promise<(run: PromptTestRun) => RunSums> {
  const ids = runs.map(({ id }) => id);
  const rows =
    ids.length === 0
      ? []
      : await em.execute<(RunSums & { id: string })[]>(
          `select run_id as id, count(finished_at)::int as done,
             count(*) filter (where finished_at is not null and status not between 200 and 299)::int as failed,
             count(*) filter (where verdict)::int as passed, count(*) filter (where not verdict)::int as rejected,
             coalesce(sum(cost_nano), 0)::float8 as "costNano", avg(latency_ms) as "latencyMs",
             sum(input_tokens)::int as "inputTokens", sum(output_tokens)::int as "outputTokens"
           from prompt_test_results where organisation_id = ? and run_id in (${ids.map(() => '?').join(', ')}) group by run_id`,
          [runs[0]?.organisationId, ...ids],
        );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ({ id }) => byId.get(id) ?? noSums;
}

const noSums: RunSums = {
  ...{ done: 0, failed: 0, passed: 0, rejected: 0, costNano: 0, latencyMs: null, inputTokens: 0, outputTokens: 0 },
};

/** True if a row has its reply and its verdict. */
export function isDone({ finishedAt }: PromptTestResult): boolean {
  return finishedAt !== null && finishedAt !== undefined;
}

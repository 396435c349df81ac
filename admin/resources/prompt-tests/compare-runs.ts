import { isDeepStrictEqual } from 'node:util';
import type { EntityManager } from '../../db/open-database.ts';
import { type PromptTestResult, type PromptTestRun, promptTestResults } from './entity.ts';
import { isDone } from './read-runs.ts';
import { toOutcome, toResult } from './to-reply.ts';

interface Counts {
  readonly rows: number;
  readonly outputs_changed: number;
  readonly newly_passed: number;
  readonly newly_rejected: number;
}

/** Counts the rows that both runs have finished, and those whose output or verdict differs. */
export async function countChanges(em: EntityManager, from: PromptTestRun, to: PromptTestRun): Promise<Counts> {
  const [counts] = await em.execute<[Counts]>(
    `select count(*)::int as rows, count(*) filter (where a.output is distinct from b.output)::int as outputs_changed,
       count(*) filter (where b.verdict and a.verdict is not true)::int as newly_passed,
       count(*) filter (where not b.verdict and a.verdict)::int as newly_rejected
     from prompt_test_results a join prompt_test_results b on b.row_number = a.row_number
     where a.organisation_id = ? and b.organisation_id = ? and a.run_id = ? and b.run_id = ?
       and a.finished_at is not null and b.finished_at is not null`,
    [from.organisationId, to.organisationId, from.id, to.id],
  );
  return counts;
}

/** Returns a page of the rows that both runs have, with both outcomes, and the number of these rows. */
export async function compareRows(
  em: EntityManager,
  from: PromptTestRun,
  to: PromptTestRun,
  { limit, offset }: { readonly limit: number; readonly offset: number },
) {
  const rowsIn = async ({ id, organisationId }: PromptTestRun) => {
    const rowNumber = { $gte: offset, $lt: offset + limit };
    const rows = await em.find(promptTestResults, { runId: id, organisationId, rowNumber }, { orderBy: { rowNumber: 'asc' } });
    return new Map(rows.map((row) => [row.rowNumber, row]));
  };
  const [before, after] = [await rowsIn(from), await rowsIn(to)];
  const data = [...after.values()].flatMap((newer) => {
    const older = before.get(newer.rowNumber);
    return older ? [compare(older, newer)] : [];
  });
  return { total: Math.min(from.rowsTotal, to.rowsTotal), data };
}

function compare(older: PromptTestResult, newer: PromptTestResult) {
  const { row, name, variables } = toResult(newer);
  return {
    ...{ row, name, variables },
    is_same_row: isDeepStrictEqual([older.variables, older.checks], [newer.variables, newer.checks]),
    is_same_output: isDone(older) && isDone(newer) && older.output === newer.output,
    from: toOutcome(older),
    to: toOutcome(newer),
  };
}

import { isDeepStrictEqual } from 'node:util';
import type { EntityManager } from '../../db/open-database.ts';
import type { Vault } from '../../secrets/vault.ts';
import { type PromptTestResult, type PromptTestRun, promptTestResults } from './entity.ts';
import { isDone } from './read-runs.ts';
import { type OpenedContent, openContent } from './result-content.ts';
import { toOutcome, toResult } from './to-reply.ts';

interface Counts {
  readonly rows: number;
  readonly outputs_changed: number;
  readonly newly_passed: number;
  readonly newly_rejected: number;
}

interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** Rows whose outputs are opened at the same time. */
const groupRows = 50;

/** Counts the rows that both runs have finished, and those whose output or verdict differs. Outputs are sealed, so each is opened. */
export async function countChanges(em: EntityManager, vault: Vault, from: PromptTestRun, to: PromptTestRun): Promise<Counts> {
  const counts = { rows: 0, outputs_changed: 0, newly_passed: 0, newly_rejected: 0 };
  for (let offset = 0; offset < Math.min(from.rowsTotal, to.rowsTotal); offset += groupRows) {
    for (const { older, newer } of await pairsOf(em, from, to, { offset, limit: groupRows })) {
      if (!isDone(older) || !isDone(newer)) continue;
      counts.rows += 1;
      if (!(await isSameOutput(em, vault, older, newer))) counts.outputs_changed += 1;
      if (newer.verdict === true && older.verdict !== true) counts.newly_passed += 1;
      if (newer.verdict === false && older.verdict === true) counts.newly_rejected += 1;
    }
  }
  return counts;
}

/** Returns a page of the rows that both runs have, with both outcomes, and the number of these rows. */
export async function compareRows(
  em: EntityManager,
  from: PromptTestRun,
  to: PromptTestRun,
  { page, vault, isShown }: { readonly page: Page; readonly vault: Vault; readonly isShown: boolean },
) {
  const data = (await pairsOf(em, from, to, page)).map(async ({ older, newer }) => {
    const isSame = isDone(older) && isDone(newer) && (await isSameOutput(em, vault, older, newer));
    const shown = async (row: PromptTestResult): Promise<OpenedContent | null> => (isShown ? openContent(em, vault, row) : null);
    const { row, name, variables } = toResult(newer, null);
    return {
      ...{ row, name, variables },
      is_same_row: isDeepStrictEqual([older.variables, older.checks], [newer.variables, newer.checks]),
      is_same_output: isSame,
      from: toOutcome(older, await shown(older)),
      to: toOutcome(newer, await shown(newer)),
    };
  });
  return { total: Math.min(from.rowsTotal, to.rowsTotal), data: await Promise.all(data) };
}

async function isSameOutput(em: EntityManager, vault: Vault, older: PromptTestResult, newer: PromptTestResult): Promise<boolean> {
  const [a, b] = [await openContent(em, vault, older), await openContent(em, vault, newer)];
  return a.omitted === null && b.omitted === null && a.output === b.output;
}

interface Pair {
  readonly older: PromptTestResult;
  readonly newer: PromptTestResult;
}

async function pairsOf(em: EntityManager, from: PromptTestRun, to: PromptTestRun, { offset, limit }: Page): Promise<Pair[]> {
  const rowsIn = async ({ id, organisationId }: PromptTestRun) => {
    const rowNumber = { $gte: offset, $lt: offset + limit };
    const rows = await em.find(promptTestResults, { runId: id, organisationId, rowNumber }, { orderBy: { rowNumber: 'asc' } });
    return new Map(rows.map((row) => [row.rowNumber, row]));
  };
  const [before, after] = [await rowsIn(from), await rowsIn(to)];
  return [...after.values()].flatMap((newer) => {
    const older = before.get(newer.rowNumber);
    return older ? [{ older, newer }] : [];
  });
}

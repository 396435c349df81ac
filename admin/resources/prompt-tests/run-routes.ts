import { findPage } from '../../db/find-page.ts';
import { conflict, invalid } from '../../http/errors.ts';
import { pageOf, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { compareRows, countChanges } from './compare-runs.ts';
import { promptTestResults, promptTestRuns } from './entity.ts';
import { findRun, sumsOf } from './read-runs.ts';
import { openContent } from './result-content.ts';
import { compareQuery, comparisonReply, listQuery, resultsReply, runBody, runListReply, runReply } from './schema.ts';
import { seesOutputs } from './sees-outputs.ts';
import { findTestSet } from './service.ts';
import { startRun } from './start-run.ts';
import { toResult, toRun } from './to-reply.ts';

const shared = { tenant: 'either', resource: 'prompt_test_runs', query: tenantQuery, body: null } as const;
const path = '/prompts/test-runs/:testRunId';

/** Routes of runs of test sets. */
export const promptTestRunRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/prompts/test-sets/:testSetId/runs',
    summary: 'Run a version of a prompt over the rows of a test set',
    scopes: ['prompts.update'],
    action: 'create',
    body: runBody,
    reply: runReply,
    async handle(call) {
      const run = await call.write(async (change) => {
        const set = await findTestSet(change.tx, call, call.params.testSetId ?? '');
        return startRun(change, set, call.actor, call.body);
      });
      call.services.wakeJobs();
      return toRun(run, (await sumsOf(call.em, [run]))(run));
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/prompts/test-sets/:testSetId/runs',
    summary: 'List the runs of a test set, newest first',
    scopes: ['prompts.read'],
    action: 'list',
    query: listQuery,
    reply: runListReply,
    async handle(call) {
      const { em, organisationId } = call;
      const { id: testSetId } = await findTestSet(em, call, call.params.testSetId ?? '');
      const page = { ...pageOf(call.query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
      const [rows, total] = await findPage(em, promptTestRuns, { organisationId, testSetId }, page);
      const sums = await sumsOf(em, rows);
      return { object: 'list', total, data: rows.map((run) => toRun(run, sums(run))) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path,
    summary: 'Read a run with its progress',
    scopes: ['prompts.read'],
    action: 'read',
    reply: runReply,
    async handle(call) {
      const run = await findRun(call.em, call, call.params.testRunId ?? '');
      return toRun(run, (await sumsOf(call.em, [run]))(run));
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: `${path}/cancel`,
    summary: 'Cancel a run: it starts no further row, and rows in progress end',
    scopes: ['prompts.update'],
    action: 'cancel',
    body: tenantQuery,
    reply: runReply,
    async handle(call) {
      const run = await call.write(async (change) => {
        const found = await findRun(change.tx, call, call.params.testRunId ?? '');
        const where = { id: found.id, organisationId: found.organisationId, status: 'in_progress' as const };
        const end = { status: 'cancelled' as const, finishedAt: new Date(call.services.clock.now()) };
        if ((await change.tx.nativeUpdate(promptTestRuns, where, end)) === 0) throw conflict('The run has ended');
        change.about(found);
        return { ...found, ...end };
      });
      return toRun(run, (await sumsOf(call.em, [run]))(run));
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${path}/results`,
    summary: 'List the results of a run, row by row',
    scopes: ['prompts.read'],
    action: 'list-results',
    query: listQuery,
    reply: resultsReply,
    async handle(call) {
      const { em, services, actor } = call;
      const run = await findRun(em, call, call.params.testRunId ?? '');
      const { id: runId, organisationId, rowsTotal: total } = run;
      const page = { ...pageOf(call.query), orderBy: { rowNumber: 'asc' } } as const;
      const rows = await em.find(promptTestResults, { runId, organisationId }, page);
      const isShown = await seesOutputs(em, actor, run);
      const data = rows.map(async (row) => toResult(row, isShown ? await openContent(em, services.vault, row) : null));
      return { object: 'list', total, data: await Promise.all(data) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${path}/compare`,
    summary: 'Compare a run with an earlier one of the same test set (with=<run id>), row by row',
    scopes: ['prompts.read'],
    action: 'compare',
    query: compareQuery,
    reply: comparisonReply,
    async handle(call) {
      const { em, query } = call;
      const to = await findRun(em, call, call.params.testRunId ?? '');
      const from = await findRun(em, call, query.with);
      if (from.testSetId !== to.testSetId) throw invalid('with: must be a run of the same test set');
      const sums = await sumsOf(em, [from, to]);
      const [older, newer] = [toRun(from, sums(from)), toRun(to, sums(to))];
      return {
        object: 'prompt-test-comparison',
        ...{ from: older, to: newer },
        summary: {
          ...(await countChanges(em, call.services.vault, from, to)),
          cost: { from: older.cost, to: newer.cost },
          average_latency: { from: older.average_latency, to: newer.average_latency },
        },
        ...(await compareRows(em, from, to, {
          page: pageOf(query),
          vault: call.services.vault,
          isShown: (await seesOutputs(em, call.actor, from)) && (await seesOutputs(em, call.actor, to)),
        })),
      };
    },
  }),
];

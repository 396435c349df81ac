import type { AdminServices } from '../../http/admin-services.ts';
import { tokensOf } from '../../http/gateways/reply-tokens.ts';
import { keyHeader, type ModelReply, modelTimeoutMs, retryInMs, sendToGateway } from '../../http/gateways/send-to-gateway.ts';
import type { JobHandler } from '../../jobs/job-runner.ts';
import { apiKeys } from '../api-keys/entity.ts';
import { checkOutput } from './check-output.ts';
import { type PromptTestResult, type PromptTestRun, promptTestResults, promptTestRuns } from './entity.ts';
import { outputOf } from './output-of.ts';
import { openContent, type ResultContent, sealContent } from './result-content.ts';
import { traceOf } from './trace-of.ts';

/** Rows in progress at once. Gateways run at most this number of checks of one organisation at once. */
const atOnce = 4;
/** Milliseconds until the next attempt if no gateway replies. */
const gatewayWaitMs = 2_000;

/**
 * Job of one run. Each step runs the next due rows: the call, then the checks of its output. Both are stored as they end, so that a killed step
 * repeats only what was in progress. A cancelled run starts no further row.
 */
export function promptTestJob(services: AdminServices): JobHandler {
  return async ({ key, organisationId, signal }) => {
    if (organisationId === null) return 'done';
    const em = services.database.emOf(organisationId);
    const run = await em.findOne(promptTestRuns, { id: key, organisationId, status: 'in_progress' });
    if (!run) return 'done';
    const open = { runId: run.id, organisationId, finishedAt: null };
    const page = { orderBy: { nextAt: 'asc nulls first', rowNumber: 'asc' }, limit: atOnce } as const;
    const rows = await em.find(promptTestResults, open, page);
    const apiKey = await em.findOne(apiKeys, { id: run.keyId, organisationId }, { fields: ['publicId'] });
    if (rows.length === 0) return finish(services, run, { status: 'success' });
    if (!apiKey) return finish(services, run, { status: 'failed', error: 'The API key of the run was deleted' });
    const nowMs = services.clock.now();
    const due = rows.filter(({ nextAt }) => !nextAt || nextAt.getTime() <= nowMs);
    if (due.length === 0) return { againInMs: Math.max(1, Math.min(...rows.map((row) => Number(row.nextAt) - nowMs))) };
    const outcomes = await Promise.allSettled(due.map((row) => runRow(services, run, row, apiKey.publicId, signal)));
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
    return { againInMs: 0 };
  };
}

async function runRow(
  services: AdminServices,
  run: PromptTestRun,
  row: PromptTestResult,
  publicKeyId: string,
  signal: AbortSignal,
): Promise<void> {
  const reply =
    row.status === null || row.status === undefined
      ? await call(services, run, row, publicKeyId, signal)
      : { status: row.status, ...(await openStored(services, row)) };
  if (reply === null) return;
  const { status, output, error } = reply;
  const isFailed = status < 200 || status >= 300 || output === null;
  const checked = isFailed ? { verdict: null, checkResults: [], error } : await checkOutput(services, run, row, output);
  if (checked === null) return later(services, row, 0, gatewayWaitMs);
  const { verdict, ...others } = checked;
  await store(services, row, { verdict, finishedAt: new Date(services.clock.now()) }, { output, ...others });
}

/** The reply of a row whose checks did not run. */
async function openStored(
  { database, vault }: AdminServices,
  row: PromptTestResult,
): Promise<Pick<ResultContent, 'output' | 'error'>> {
  const { output, error, omitted } = await openContent(database.emOf(row.organisationId), vault, row);
  return { output, error: omitted === null ? error : 'The stored output cannot be opened' };
}

type Called = Pick<ResultContent, 'output' | 'error'> & { readonly status: number };

/** Calls the prompt with the variables of the row, and stores the reply. Null: the row is due again later. */
async function call(
  services: AdminServices,
  run: PromptTestRun,
  row: PromptTestResult,
  publicKeyId: string,
  signal: AbortSignal,
): Promise<Called | null> {
  const { settings, clock } = services;
  const headers = { ...keyHeader(services, publicKeyId), [`${settings.headerPrefix}trace-id`]: traceOf(row) };
  const path = `/v1/prompts/${run.promptId}@${run.promptVersion}/completions`;
  const startedMs = clock.elapsed();
  let reply: ModelReply;
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(modelTimeoutMs(settings))]);
    reply = await sendToGateway(settings, path, headers, JSON.stringify({ variables: row.variables }), limit);
  } catch {
    // The gateway was unreachable or died.
    if (!signal.aborted) await later(services, row, 0, gatewayWaitMs);
    return null;
  }
  const waitMs = retryInMs(reply, row.attempts);
  if (waitMs !== null) {
    await later(services, row, 1, waitMs);
    return null;
  }
  const { inputTokens, outputTokens } = tokensOf(reply.body);
  const { status } = reply;
  const said = outputOf(reply);
  const content = { ...said, checkResults: [] };
  await store(services, row, { status, latencyMs: clock.elapsed() - startedMs, inputTokens, outputTokens }, content);
  return { status, ...said };
}

/** The first end of a row counts, if two processes ran it. */
async function store(
  { database, vault }: AdminServices,
  row: PromptTestResult,
  result: Partial<PromptTestResult>,
  content?: ResultContent,
): Promise<void> {
  const { runId, rowNumber, organisationId } = row;
  const where = { runId, rowNumber, organisationId, finishedAt: null };
  const em = database.emOf(organisationId);
  const sealed = content === undefined ? {} : { content: await sealContent(em, vault, row, content) };
  await em.nativeUpdate(promptTestResults, where, { ...result, ...sealed });
}

async function later(services: AdminServices, row: PromptTestResult, attempts: number, waitMs: number): Promise<void> {
  await store(services, row, { attempts: row.attempts + attempts, nextAt: new Date(services.clock.now() + waitMs) });
}

/** Ends a run that is still in progress. */
async function finish(
  services: AdminServices,
  run: PromptTestRun,
  end: Pick<PromptTestRun, 'status'> & { error?: string },
): Promise<'done'> {
  const { id, organisationId } = run;
  const where = { id, organisationId, status: 'in_progress' as const };
  const em = services.database.emOf(organisationId);
  await em.nativeUpdate(promptTestRuns, where, { ...end, finishedAt: new Date(services.clock.now()) });
  return 'done';
}

import { ownBatchPrefix } from '../../../core/contract/provider/own-store.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { tokensOf } from '../../http/gateways/reply-tokens.ts';
import { keyHeader, type ModelReply, modelTimeoutMs, retryInMs, sendToGateway } from '../../http/gateways/send-to-gateway.ts';
import { apiKeys } from '../api-keys/entity.ts';
import { managerOf } from '../files/find-file.ts';
import { type Batch, type BatchLine, batches, batchLines } from './entity.ts';

/** Milliseconds between checks for a cancellation, which stops the running lines. */
const watchMs = 1_000;

/**
 * Sends the next due lines concurrently, and stores each result as it arrives. Resolves with the number of lines without a
 * result. A line that was in progress when the process died has no result and is sent again.
 */
export async function runBucket(services: AdminServices, batch: Batch, signal: AbortSignal): Promise<number> {
  const newManager = managerOf(services, batch);
  const open = { batchId: batch.id, organisationId: batch.organisationId, result: null };
  const due = await newManager().find(
    batchLines,
    { ...open, $or: [{ nextAt: null }, { nextAt: { $lte: new Date(services.clock.now()) } }] },
    { orderBy: { lineNumber: 'asc' }, limit: services.settings.batchBucketLines },
  );
  if (due.length > 0) {
    const headers = await headersOf(services, newManager(), batch);
    const stopped = new AbortController();
    const watching = setInterval(() => {
      newManager()
        .findOne(batches, { id: batch.id, organisationId: batch.organisationId }, { fields: ['status'] })
        .then((row) => row?.status === 'cancelling' && stopped.abort())
        .catch(() => {});
    }, watchMs);
    try {
      const either = AbortSignal.any([signal, stopped.signal]);
      const outcomes = await Promise.allSettled(due.map((line) => runLine(services, newManager, batch, line, headers, either)));
      const failed = outcomes.find((outcome) => outcome.status === 'rejected');
      if (failed) throw failed.reason;
    } finally {
      clearInterval(watching);
    }
    signal.throwIfAborted();
  }
  return newManager().count(batchLines, open);
}

async function runLine(
  services: AdminServices,
  newManager: () => EntityManager,
  batch: Batch,
  line: BatchLine,
  headers: Readonly<Record<string, string>> | null,
  signal: AbortSignal,
): Promise<void> {
  if (headers === null) {
    const error = { code: 'invalid_api_key', message: 'The API key that created the batch was deleted' };
    return keep(newManager(), batch, line, { response: null, error }, true);
  }
  const { settings } = services;
  let reply: ModelReply;
  try {
    const both = AbortSignal.any([signal, AbortSignal.timeout(modelTimeoutMs(settings))]);
    reply = await sendToGateway(settings, line.url, headers, line.body, both);
  } catch {
    // The gateway was unreachable or died. The line is due again soon, until the batch's time limit.
    if (!signal.aborted) await later(services, line, 0, 2_000);
    return;
  }
  const waitMs = retryInMs(reply, line.attempts);
  if (waitMs !== null) return later(services, line, 1, waitMs);
  const response = { status_code: reply.status, request_id: reply.requestId, body: reply.body };
  await keep(newManager(), batch, line, { response, error: null }, reply.status < 200 || reply.status >= 300);
}

async function later(services: AdminServices, line: BatchLine, attempts: number, waitMs: number): Promise<void> {
  const nextAt = new Date(services.clock.now() + waitMs);
  await managerOf(services, line)().execute(
    `update batch_lines set attempts = attempts + ?, next_at = ?
     where batch_id = ? and line_number = ? and organisation_id = ? and result is null`,
    [attempts, nextAt, line.batchId, line.lineNumber, line.organisationId],
  );
}

/** The first result of a line counts. A second one, of a line that was sent twice, is ignored. */
async function keep(
  em: EntityManager,
  batch: Batch,
  line: BatchLine,
  outcome: { readonly response: { readonly body: unknown } | null; readonly error: unknown },
  isError: boolean,
): Promise<void> {
  const text = JSON.stringify({ id: `batch_req_${newId()}`, custom_id: line.customId, ...outcome });
  await em.nativeUpdate(
    batchLines,
    { batchId: batch.id, lineNumber: line.lineNumber, organisationId: batch.organisationId, result: null },
    { result: text, isError, ...tokensOf(outcome.response?.body) },
  );
}

/** Headers of every line: those of the batch, and a credential that represents its key for the duration of a line. */
async function headersOf(services: AdminServices, em: EntityManager, batch: Batch): Promise<Record<string, string> | null> {
  const key = await em.findOne(
    apiKeys,
    { id: batch.createdByKey, organisationId: batch.organisationId },
    { fields: ['publicId'] },
  );
  if (!key) return null;
  const { settings, vault } = services;
  const context = { organisationId: batch.organisationId, table: 'batches', column: 'sealed_headers', rowId: batch.id };
  const stored = batch.sealedHeaders
    ? (JSON.parse(await vault.open(em, context, batch.sealedHeaders)) as Record<string, string>)
    : {};
  const headers: Record<string, string> = {
    ...keyHeader(services, key.publicId),
    [`${settings.headerPrefix}trace-id`]: ownBatchPrefix + batch.id,
  };
  for (const [name, value] of Object.entries(stored)) {
    headers[name === 'authorization' ? name : settings.headerPrefix + name] = value;
  }
  return headers;
}

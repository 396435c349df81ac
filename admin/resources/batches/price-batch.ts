import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import type { ProviderDocument } from '../../../core/contract/protocol/documents.ts';
import {
  type BatchUsagePart,
  type BatchUsageReply,
  batchUsagePath,
  batchUsageReply,
} from '../../../core/contract/provider/batch-usage.ts';
import { dayMs } from '../../../core/contract/values/time/durations.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import type { JobHandler } from '../../jobs/job-runner.ts';
import { budgetsOf } from '../../leases/budgets-of.ts';

const payload = v.object({
  batchId: v.string(),
  settings: v.record(v.string(), v.unknown()),
  workspaceId: v.string(),
  provider: v.nullable(v.string()),
  providerSlug: v.string(),
  traceId: v.string(),
  apiKeyId: v.nullable(v.string()),
  userId: v.nullable(v.string()),
  configSlug: v.nullable(v.string()),
  metadata: v.record(v.string(), v.string()),
  createdAt: v.string(),
});
type Payload = v.InferOutput<typeof payload>;

/** Providers keep batches for about a week. Results not read by then are given up. */
const followedMs = 10 * dayMs;
const waitMsMax = 900_000;
/** Time limit for reading an output, which may be long. */
const readingMsMax = 1_800_000;

/**
 * Job of a batch that a provider runs. Polls until the batch has ended, then stores one usage record for each model, with ids
 * derived from the batch. Each record is stored once, even if the job is interrupted and run again.
 */
export function priceBatchJob(services: AdminServices): JobHandler {
  return async ({ key, organisationId, payload: given, signal }) => {
    const made = v.parse(payload, given);
    const ageMs = services.clock.now() - Date.parse(made.createdAt);
    const againInMs = Math.min(waitMsMax, Math.max(services.settings.batchPollMs, ageMs / 10));
    if (organisationId === null) return 'done';
    // Delay of the first poll, because no batch ends at once.
    if (ageMs < services.settings.batchPollMs) return { againInMs: services.settings.batchPollMs - ageMs };
    const { document } = await services.readDocument('provider', `${made.workspaceId}/${made.providerSlug}`);
    const giveUp = (reason: string) => {
      services.log.warn({ batch: key, reason }, 'the cost of a batch is unknown and not recorded');
      return 'done' as const;
    };
    if (!document) return giveUp('the provider was deleted');
    // A batch that cannot be read now is read again until it is too old.
    const usage = await ask(services, document as ProviderDocument, made, signal).catch(() => null);
    if (usage !== null) {
      const { state, parts } = usage;
      if (state === 'gone') return giveUp('the provider no longer has the batch');
      if (state === 'ended') {
        await record(services, organisationId, document as ProviderDocument, made, parts);
        return 'done';
      }
    }
    signal.throwIfAborted();
    return ageMs > followedMs ? giveUp('the batch did not end in time or could not be read') : { againInMs };
  };
}

async function ask(
  { settings }: AdminServices,
  document: ProviderDocument,
  made: Payload,
  signal: AbortSignal,
): Promise<BatchUsageReply> {
  const reply = await fetch(`${settings.gatewayUrl}${batchUsagePath}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${settings.clusterKeyText}`, 'content-type': 'application/json' },
    body: JSON.stringify({ document, settings: made.settings, batchId: made.batchId }),
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(readingMsMax)]),
  });
  if (reply.status !== 200) throw new Error(`a gateway replied with ${reply.status}`);
  return v.parse(batchUsageReply, await reply.json());
}

async function record(
  services: AdminServices,
  organisationId: string,
  document: ProviderDocument,
  made: Payload,
  parts: readonly BatchUsagePart[],
): Promise<void> {
  const { database, clock } = services;
  const { workspaceId, apiKeyId } = made;
  const budgets = await budgetsOf(database.em(), { organisationId, workspaceId, apiKeyId, document });
  const reservations = budgets.map((key) => ({ key, lease: null, startMs: 0, units: 0 }));
  const createdAt = new Date(clock.now()).toISOString();
  await services.storeRecords(parts.map((part) => ({ ...toRecord(organisationId, made, part, createdAt), reservations })));
}

function toRecord(organisationId: string, made: Payload, part: BatchUsagePart, createdAt: string): RequestRecord {
  const { batchId, workspaceId, providerSlug } = made;
  const { requests, model, operation, serviceTier, sizeClass, raw, units, ...tokens } = part;
  const { audioInputTokens, audioOutputTokens, imageInputTokens, imageOutputTokens, ...counts } = tokens;
  return {
    ...{ id: idOf([workspaceId, providerSlug, batchId, model, serviceTier, sizeClass]), traceId: made.traceId, createdAt },
    ...{ spanId: null, parentSpanId: null, spanName: null },
    ...{ organisationId, workspaceId, apiKeyId: made.apiKeyId, userId: made.userId },
    ...{ method: 'POST', path: '/v1/batches', endpoint: operation ?? 'createBatch', status: 200, outcome: 'success' },
    ...{ errorCode: null, errorMessage: null, provider: made.provider, providerSlug, model: model === '' ? null : model },
    ...{ stream: false, configSlug: made.configSlug, configVersionId: null, targetPath: null, attempts: [] },
    ...{ retryAttemptCount: 0, cacheStatus: null, ...counts, usageEstimated: false, rawUsage: raw },
    media: { audioInputTokens, audioOutputTokens, imageInputTokens, imageOutputTokens, units },
    ...(serviceTier === null ? {} : { serviceTier }),
    ...{ durationMs: 0, firstByteMs: null, requestBytes: 0, replyBytes: 0, clientAddress: '' },
    batch: { id: batchId, part: 'result', requests },
    metadata: made.metadata,
  };
}

/** Returns the same id for the same part of the same batch (RFC 9562 §5.8). */
function idOf(parts: readonly unknown[]): string {
  const hex = createHash('sha256')
    .update(JSON.stringify(['svc batch result v1', ...parts]))
    .digest('hex');
  const variant = ((Number.parseInt(hex[16] as string, 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

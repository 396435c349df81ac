import type { ModelRates } from '../../core/contract/leases.ts';
import type { RequestRecord } from '../../core/contract/record.ts';
import type { EntityManager } from '../db/open-database.ts';
import { priceRecord } from '../pricing/price-record.ts';
import { readPricing } from '../pricing/read-pricing.ts';

type Quoted = Pick<RequestRecord, 'provider' | 'providerSlug' | 'model'> & { readonly workspaceId: string };

/** So many tokens are priced that rounding to whole micro-USD does no harm, and so few that no price for long requests applies. */
const tokens = 10_000;

/**
 * What a token of this model costs, by the same prices that records are billed by; null when nobody names one. For estimates:
 * details of usage that have prices of their own are not in it.
 */
export async function quoteRates(em: EntityManager, call: Quoted, nowMs: number): Promise<ModelRates | null> {
  const pricing = (await readPricing(em, [call]))(call);
  const costOf = (usage: Partial<RequestRecord>): number | null =>
    priceRecord({ ...emptyRecord(nowMs), ...call, ...usage }, pricing).costMicroUsd;
  const input = costOf({ inputTokens: tokens });
  const output = costOf({ outputTokens: tokens });
  const cacheRead = costOf({ cacheReadTokens: tokens });
  if (input === null && output === null) return null;
  return { input: (input ?? 0) / tokens, output: (output ?? 0) / tokens, cacheRead: (cacheRead ?? input ?? 0) / tokens };
}

function emptyRecord(nowMs: number): RequestRecord {
  return {
    id: '00000000-0000-4000-8000-000000000000',
    traceId: '',
    spanId: null,
    parentSpanId: null,
    spanName: null,
    createdAt: new Date(nowMs).toISOString(),
    organisationId: null,
    workspaceId: null,
    apiKeyId: null,
    userId: null,
    method: 'POST',
    path: '',
    endpoint: 'chatComplete',
    status: 200,
    outcome: 'success',
    errorCode: null,
    errorMessage: null,
    provider: null,
    providerSlug: null,
    model: null,
    stream: false,
    configSlug: null,
    configVersionId: null,
    targetPath: null,
    attempts: [],
    retryAttemptCount: 0,
    cacheStatus: null,
    inputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
    usageEstimated: false,
    rawUsage: null,
    durationMs: 0,
    firstByteMs: null,
    requestBytes: 0,
    replyBytes: 0,
    clientAddress: '',
    metadata: {},
  };
}

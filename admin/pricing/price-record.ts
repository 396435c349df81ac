import { type DiscardedCall, isCounted, type RequestRecord } from '../../core/contract/plugin/record/record.ts';
import { totalTokens } from '../../core/contract/values/models/usage.ts';
import { pricesOf } from '../../core/providers/declarations.ts';
import { type Cost, costOf } from './cost.ts';
import { costMax, roundedNano } from './nano-usd.ts';
import { partsByModel } from './parts-by-model.ts';
import { countsWithout, partsOfSession } from './parts-of-session.ts';
import { type PriceHistory, priceAt } from './price-history.ts';
import { configuredBatchRates, configuredRates, publicRates } from './rates.ts';
import type { PricingAdjustments, PricingConfig } from './schema.ts';
import { ratesTimes, tierFactor } from './tier-factors.ts';
import type { Rates } from './units.ts';

/** Price settings of an integration. */
export interface IntegrationPricing {
  readonly adjustments: PriceHistory<PricingAdjustments>;
  readonly models: ReadonlyMap<string, { readonly pricing: PriceHistory<PricingConfig>; readonly baseModel: string | null }>;
  /** Names of deployments and the models behind them. */
  readonly aliases: ReadonlyMap<string, string>;
  /** True if calls served by capacity bought in advance cost nothing (Vertex AI). */
  readonly skipsProvisioned?: boolean;
}

/**
 * `model`: saved with the integration's model; `provider`: the cost that the provider states; `public`: from the public list; `unknown`: no price.
 */
export type PriceSource = 'model' | 'provider' | 'public' | 'unknown';

export interface RecordPrice {
  /** Whole nano-USD. Null if the price is unknown. */
  readonly costNanoUsd: number | null;
  /** Null if there was nothing to price. */
  readonly source: PriceSource | null;
  /** Units, and models that served a part of the call, without a price: the cost is without them. Absent: the cost is complete, or unknown. */
  readonly unpriced?: readonly string[];
}

/** Returns the cost of a request, by the prices of its time. Rejected and failed requests, cached replies, token counts and spans of calls
 * that have a record of their own cost nothing. */
export function priceRecord(record: RequestRecord, own: IntegrationPricing | null): RecordPrice {
  const { provider, model } = record;
  if (provider === null || model === null) return { costNanoUsd: null, source: null };
  if (isFree(record) || (own?.skipsProvisioned && isProvisioned(record))) return { costNanoUsd: 0, source: null };
  const at = new Date(record.createdAt);
  const stated = statedPrice(record, own, model, at);
  if (stated !== null) return { costNanoUsd: stated, source: 'provider' };
  const ofSession = partsOfSession(record);
  const parts = partsByModel(ofSession.own);
  const { costNanoUsd, source, unpriced } = priceOf(parts.own, { provider, model, at }, own);
  if (costNanoUsd === null) return { costNanoUsd, source: 'unknown' };
  const others = [...parts.others, ...ofSession.others.map((part) => ({ record: part, isExtra: false }))];
  if (others.length === 0) return { costNanoUsd, source, ...lackOf(unpriced) };
  const further = others.map(({ record: part, isExtra }) => {
    const byOwn = priceOf(part, { provider, model: part.model as string, at }, own);
    const price = byOwn.costNanoUsd === null && !isExtra ? priceOf(part, { provider, model, at }, own) : byOwn;
    return price.costNanoUsd === null ? { costNanoUsd: 0, unpriced: [part.model as string] } : price;
  });
  const cost = further.reduce((sum, price) => sum + (price.costNanoUsd ?? 0), costNanoUsd);
  return { costNanoUsd: cost, source, ...lackOf([unpriced, ...further.map((price) => price.unpriced)].flat()) };
}

function lackOf(unpriced: readonly string[]): Pick<RecordPrice, 'unpriced'> | undefined {
  return unpriced.length === 0 ? undefined : { unpriced: [...new Set(unpriced)] };
}

/** Returns the cost that the provider states for a call without a saved price, times the multiplier of all prices. Sums of calls have none. */
function statedPrice(record: RequestRecord, own: IntegrationPricing | null, model: string, at: Date): number | null {
  if (record.session || record.batch?.part === 'result' || (own && savedPricing(own, model, at))) return null;
  const stated = statedNanoUsd(record);
  const factor = (own && priceAt(own.adjustments, at))?.multiplier.default ?? 1;
  return stated === null ? null : Math.min(roundedNano(stated * factor), costMax);
}

/**
 * Returns the cost that the provider states for a call, in nano-USD. It includes what the usage does not count: tools that ran at the provider, fees of a
 * request, the host that a router chose. Null: the provider states none.
 */
function statedNanoUsd({ provider, rawUsage }: RequestRecord): number | null {
  const usd = provider === null || rawUsage === null ? null : pricesOf(provider).statedCost?.(rawUsage);
  return typeof usd === 'number' && usd >= 0 ? usd * nanoPerUsd : null;
}

const nanoPerUsd = 1e9;

/**
 * Returns the cost of a request with that of the responses that no client received. Each has the price of its own provider and model, and costs
 * something whatever the outcome of the request is.
 */
export function priceWhole(record: RequestRecord, pricingOf: (call: PricedCall) => IntegrationPricing | null): WholePrice {
  if (record.discarded === undefined) {
    const price = priceRecord(record, pricingOf(record));
    return { ...price, record: withUnpriced(record, price.unpriced) };
  }
  const own = deliveredCallOf(record);
  const price = priceRecord(own, pricingOf(own));
  const others = discardedCallsOf(record).map((call) => priceRecord(call, pricingOf(call)));
  const discarded = record.discarded.map(({ costNano: _, ...call }, at): DiscardedCall => {
    const costNano = others[at]?.costNanoUsd ?? null;
    return costNano === null ? call : { ...call, costNano };
  });
  const known = [price, ...others].filter(({ costNanoUsd }) => costNanoUsd !== null);
  if (known.length === 0) return { ...price, record: { ...record, discarded } };
  const source = known.find((one) => one.source !== null)?.source ?? null;
  const costNanoUsd = known.reduce((sum, one) => sum + (one.costNanoUsd ?? 0), 0);
  const unpriced = [price, ...others].flatMap((one, at) =>
    one.costNanoUsd === null ? ((at === 0 ? record : record.discarded?.[at - 1])?.model ?? []) : (one.unpriced ?? []),
  );
  const lack = lackOf(unpriced);
  return { costNanoUsd, source, ...lack, record: withUnpriced({ ...record, discarded }, lack?.unpriced) };
}

/** Returns the same record in the usual case that all of its usage has a price. */
function withUnpriced(record: RequestRecord, unpriced: readonly string[] | undefined): RequestRecord {
  if (unpriced !== undefined) return { ...record, unpriced: [...unpriced] };
  if (record.unpriced === undefined) return record;
  const { unpriced: _, ...complete } = record;
  return complete;
}

/** Price of a request with the record, which then has what has no price, and the cost of each discarded response. */
export interface WholePrice extends RecordPrice {
  readonly record: RequestRecord;
}

/** The members that price settings are found by. */
export type PricedCall = Pick<RequestRecord, 'workspaceId' | 'providerSlug' | 'model'>;

/** Returns the calls whose responses no client received, as records of their own. */
export function discardedCallsOf(record: RequestRecord): RequestRecord[] {
  // Few requests have any. A copy of each record took a tenth of the memory that storing a batch allocates.
  if (record.discarded === undefined) return [];
  const { discarded, media: _media, image: _image, serviceTier: _serviceTier, ...rest } = record;
  return discarded.map((call) => ({ ...rest, ...call, outcome: 'success', cacheStatus: null }));
}

/** Returns the record without the usage of responses that no client received. */
export function deliveredCallOf({ discarded = [], ...record }: RequestRecord): RequestRecord {
  const counts = countsWithout(record, discarded);
  const isNothing = totalTokens(counts) === 0 && Object.values(counts.media?.units ?? {}).every((amount) => amount === 0);
  // The provider's counts are then those of a discarded response.
  return { ...record, ...counts, rawUsage: isNothing ? null : record.rawUsage };
}

interface ModelAtTime {
  readonly provider: string;
  readonly model: string;
  readonly at: Date;
}

function priceOf(record: RequestRecord, named: ModelAtTime, own: IntegrationPricing | null) {
  const { rates, source, isBatch } = ratesFor(record, named, own);
  const { requests } = resultOf(record);
  const adjustments = own && priceAt(own.adjustments, named.at);
  return { ...(rates === null ? unknown : costOf(record, rates, { adjustments, isBatch, requests })), source };
}

const unknown: Cost = { costNanoUsd: null, unpriced: [] };

/** Returns the call whose reply a cached one repeats, as a record of its own. Null if it is unknown, or the reply was not cached. */
export function savedCallOf(record: RequestRecord): RequestRecord | null {
  if (record.saved === undefined) return null;
  const { trafficType, ...call } = record.saved;
  return { ...record, ...call, cacheStatus: null, rawUsage: trafficType === undefined ? null : { trafficType } };
}

function ratesFor(
  record: RequestRecord,
  { provider, model, at }: ModelAtTime,
  own: IntegrationPricing | null,
): { readonly rates: Rates | null; readonly source: PriceSource; readonly isBatch: boolean } {
  const { isBatch, requests } = resultOf(record);
  const saved = own && savedPricing(own, model, at);
  if (saved) {
    const tier = record.serviceTier ?? null;
    const ofBatch = isBatch ? configuredBatchRates(saved, tier) : null;
    return { rates: ofBatch ?? configuredRates(saved, tier), source: 'model', isBatch: isBatch && ofBatch === null };
  }
  // The average represents each request: all are in the same size class.
  const inputTokens = (record.inputTokens + record.cacheReadTokens + record.cacheWriteTokens) / requests;
  const base = publicModel(own, model);
  const usual = publicRates(provider, base, inputTokens, at);
  const ofUsage = (record.rawUsage && pricesOf(provider).usageFactor?.(record.rawUsage)) ?? 1;
  const factor = tierFactor(provider, base, record.serviceTier ?? null) * ofUsage;
  return { rates: usual && ratesTimes(usual, factor), source: 'public', isBatch };
}

/** Returns whether the record sums up the requests of a provider's batch, and how many requests or responses of a session it covers. */
function resultOf({ batch, session }: RequestRecord): { readonly isBatch: boolean; readonly requests: number } {
  if (session) return { isBatch: false, requests: Math.max(1, session.responses ?? 1) };
  return batch?.part === 'result' ? { isBatch: true, requests: Math.max(1, batch.requests) } : { isBatch: false, requests: 1 };
}

/** Returns the price saved with a model of the integration that applies at this time; null if there is none. */
export function savedPricing(own: IntegrationPricing, model: string, at: Date): PricingConfig | null {
  return priceAt(rowOf(own, model)?.pricing ?? [], at);
}

/** Returns the model whose public price a model has: the one behind a deployment, or the base of a custom model. */
export function publicModel(own: IntegrationPricing | null, model: string): string {
  return own ? (rowOf(own, model)?.baseModel ?? own.aliases.get(model) ?? model) : model;
}

function rowOf(own: IntegrationPricing, model: string) {
  return own.models.get(model) ?? own.models.get(own.aliases.get(model) ?? model);
}

const uncharged: ReadonlySet<string> = new Set([
  'messagesCountTokens',
  'countResponseInputTokens',
  'listModels',
  'explainConfig',
  'invokeGuardrails',
]);

function isFree(record: RequestRecord): boolean {
  const { outcome, cacheStatus, endpoint } = record;
  if (outcome === 'refused' || outcome === 'failed' || !isCounted(record)) return true;
  return /hit/i.test(cacheStatus ?? '') || uncharged.has(endpoint ?? '');
}

/** https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/GenerateContentResponse#UsageMetadata */
function isProvisioned({ rawUsage }: RequestRecord): boolean {
  return rawUsage?.trafficType === 'PROVISIONED_THROUGHPUT';
}

import type { RequestRecord } from '../../core/contract/record.ts';
import { costOf } from './cost.ts';
import { configuredRates, publicRates } from './rates.ts';
import type { PricingAdjustments, PricingConfig } from './schema.ts';
import type { Rates } from './units.ts';

/** What an integration says about prices. */
export interface IntegrationPricing {
  readonly adjustments: PricingAdjustments | null;
  readonly models: ReadonlyMap<string, { readonly pricing: PricingConfig | null; readonly baseModel: string | null }>;
  /** Names of deployments and the models behind them. */
  readonly aliases: ReadonlyMap<string, string>;
}

/** `model`: as saved with the integration's model; `public`: by the public list; `unknown`: nobody names a price. */
export type PriceSource = 'model' | 'public' | 'unknown';

export interface RecordPrice {
  /** Whole micro-USD; null when the price is not known. */
  readonly costMicroUsd: number | null;
  /** Null when there was nothing to price. */
  readonly source: PriceSource | null;
}

/** What a request cost. Nothing is billed for refusals, failures, answers out of the cache, and counting tokens. */
export function priceRecord(record: RequestRecord, own: IntegrationPricing | null): RecordPrice {
  const { provider, model } = record;
  if (provider === null || model === null) return { costMicroUsd: null, source: null };
  if (isFree(record)) return { costMicroUsd: 0, source: null };
  const { rates, source } = ratesFor(record, provider, model, own);
  const costMicroUsd = rates && costOf(record, rates, { adjustments: own?.adjustments ?? null });
  return { costMicroUsd, source: costMicroUsd === null ? 'unknown' : source };
}

function ratesFor(
  record: RequestRecord,
  provider: string,
  model: string,
  own: IntegrationPricing | null,
): { readonly rates: Rates | null; readonly source: PriceSource } {
  const name = own?.aliases.get(model) ?? model;
  const row = own?.models.get(model) ?? own?.models.get(name);
  if (row?.pricing) return { rates: configuredRates(row.pricing), source: 'model' };
  const inputTokens = record.inputTokens + record.cacheReadTokens + record.cacheWriteTokens;
  const at = new Date(record.createdAt);
  const base = row?.baseModel ?? name;
  return { rates: publicRates(provider, base, inputTokens, at), source: 'public' };
}

const uncharged: ReadonlySet<string> = new Set([
  'messagesCountTokens',
  'countResponseInputTokens',
  'listModels',
  'explainConfig',
]);

function isFree({ outcome, cacheStatus, endpoint }: RequestRecord): boolean {
  if (outcome === 'refused' || outcome === 'failed') return true;
  return /hit/i.test(cacheStatus ?? '') || uncharged.has(endpoint ?? '');
}

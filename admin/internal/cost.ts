import { calcPrice } from '@pydantic/genai-prices';
import { LRUCache } from 'lru-cache';
import type { RequestRecord } from '../../core/contract/record.ts';

type Priced = Pick<
  RequestRecord,
  'provider' | 'model' | 'inputTokens' | 'cacheReadTokens' | 'cacheWriteTokens' | 'outputTokens' | 'createdAt'
>;

/**
 * What a request cost at the provider's public price, in whole micro-USD (rounded), by the price list in
 * `@pydantic/genai-prices`. Null when the list has no price for the model: unknown is not free.
 */
export function costMicroUsd(record: Priced): number | null {
  const { provider, model } = record;
  if (provider === null || model === null) return null;
  const name = `${provider}/${model}`;
  if (unknownModels.has(name)) return null;
  const usage = {
    input_tokens: record.inputTokens + record.cacheReadTokens + record.cacheWriteTokens,
    cache_read_tokens: record.cacheReadTokens,
    cache_write_tokens: record.cacheWriteTokens,
    output_tokens: record.outputTokens,
  };
  let price: ReturnType<typeof calcPrice> = null;
  try {
    price = calcPrice(usage, model, { providerId: priceIds[provider] ?? provider, timestamp: new Date(record.createdAt) });
  } catch {
    // Counts the list cannot price (more cached tokens than input, say). The record is kept without a cost.
    return null;
  }
  if (price === null) {
    unknownModels.set(name, true);
    return null;
  }
  return Math.round(price.total_price * 1_000_000);
}

/** Model names come from callers, so what is remembered about them is bounded. */
const unknownModels = new LRUCache<string, true>({ max: 5_000 });

/** Our provider types under the names of the price list, where they differ. */
export const priceIds: Readonly<Record<string, string>> = {
  'azure-openai': 'azure',
  'azure-ai': 'azure',
  bedrock: 'aws',
  'vertex-ai': 'google',
  'mistral-ai': 'mistral',
  'together-ai': 'together',
  'perplexity-ai': 'perplexity',
  'fireworks-ai': 'fireworks',
};

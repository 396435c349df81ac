import { calcPrice } from '@pydantic/genai-prices';
import { LRUCache } from 'lru-cache';
import { toolUnits } from '../../core/contract/values/models/usage.ts';
import type { UnlistedPrice } from '../../core/provider-settings/provider-prices.ts';
import { priceNamesOf, pricesOf } from '../../core/providers/declarations.ts';
import type { PayAsYouGo, PricingConfig } from './schema.ts';
import { type Rates, type TokenUnit, tokenUnits, unitAliases } from './units.ts';

/** Returns the saved batch prices as rates, and half of the usual rates for units they do not name, except searches. Null if none are saved. */
export function configuredBatchRates(config: PricingConfig, serviceTier: string | null): Rates | null {
  if (!config.batch_config) return null;
  const { tokens, units, perRequest, images, calculate } = configuredRates(config, serviceTier);
  const { pay_as_you_go: prices } = config.batch_config;
  const own = ratesOf(prices);
  return {
    tokens: { ...halved(tokens), ...own.tokens },
    units: { ...halved(units), ...own.units },
    perRequest: prices.fixed_cost ? own.perRequest : perRequest * batchFactor,
    images: own.images ?? (images && Object.fromEntries(Object.entries(images).map(([name, sizes]) => [name, halved(sizes)]))),
    calculate,
  };
}

function halved(prices: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(prices).map(([name, price]) => [name, fullPriceUnits.has(name) ? price : price * batchFactor]),
  );
}

/** Units with the usual price in batches: https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool */
export const fullPriceUnits: ReadonlySet<string> = new Set<string>(toolUnits);

/** Default batch price of providers, as a factor of the normal price. */
export const batchFactor = 0.5;

/**
 * Returns the saved prices of a model as rates, for a service tier if it has prices: US dollars per million tokens are micro-USD
 * per token.
 */
export function configuredRates(config: PricingConfig, serviceTier: string | null = null): Rates {
  const base = ratesOf(config.pay_as_you_go);
  const tiers = config.service_tiers ?? {};
  const ofTier = serviceTier !== null && Object.hasOwn(tiers, serviceTier) ? tiers[serviceTier]?.pay_as_you_go : undefined;
  const own = ofTier && ratesOf(ofTier);
  return {
    tokens: { ...base.tokens, ...own?.tokens },
    units: { ...base.units, ...own?.units },
    perRequest: ofTier?.fixed_cost ? (own?.perRequest ?? 0) : base.perRequest,
    images: own?.images ?? base.images,
    calculate: config.calculate,
  };
}

function ratesOf(payAsYouGo: PayAsYouGo): Rates {
  const { additional_units: units = {}, fixed_cost: fixed, image, ...sent } = payAsYouGo;
  const prices: Partial<Record<TokenUnit, { price: number }>> = { ...sent };
  for (const [alias, unit] of Object.entries(unitAliases)) prices[unit] ??= sent[alias as keyof typeof unitAliases];
  return {
    tokens: Object.fromEntries(tokenUnits.flatMap((unit) => (prices[unit] ? [[unit, prices[unit].price]] : []))),
    units: inMicroUsd(units),
    perRequest: (fixed?.price ?? 0) * 1e6,
    images: image && Object.fromEntries(Object.entries(image).map(([quality, sizes]) => [quality, inMicroUsd(sizes)])),
  };
}

function inMicroUsd(prices: Readonly<Record<string, { readonly price: number }>>): Record<string, number> {
  return Object.fromEntries(Object.entries(prices).map(([name, { price }]) => [name, price * 1e6]));
}

/**
 * Returns public prices from `@pydantic/genai-prices` at a time, for a request with this many input tokens (long requests may
 * cost more). Null if the list does not contain the model: unknown is not free.
 */
export function publicRates(provider: string, model: string, inputTokens: number, at: Date): Rates | null {
  const found = pricesAt(provider, model, at);
  if (found === null) return null;
  const { steps, bySize } = found;
  const size = steps.filter((start) => inputTokens > start).length;
  const known = bySize[size];
  if (known) return known;
  const rates = found.ratesOf(inputTokens);
  bySize[size] = rates;
  return rates;
}

/** Returns the numbers of input tokens above which a request has another public price, in ascending order. */
export function priceSteps(provider: string, model: string, at: Date): readonly number[] {
  return pricesAt(provider, model, at)?.steps ?? [];
}

/** Public prices of a model in one minute. */
interface ModelPrices {
  readonly steps: readonly number[];
  readonly ratesOf: (inputTokens: number) => Rates;
  /** Rates by the number of steps that a request exceeds. */
  readonly bySize: Rates[];
}

function pricesAt(provider: string, model: string, at: Date): ModelPrices | null {
  // No model of the list has such a name. The caches of names would hold megabytes that a caller or a provider sent.
  if (model.length > nameCharsMax) return null;
  const moment = `${provider}/${model} ${Math.floor(at.getTime() / 60_000)}`;
  const known = knownPrices.get(moment);
  if (known) return known;
  const found = findPrices(provider, model, at);
  if (found) knownPrices.set(moment, found);
  return found;
}

function findPrices(provider: string, model: string, at: Date): ModelPrices | null {
  const { id, names } = priceNamesOf(provider, model);
  const { unlisted: priceOf, thousands, thousandRequests } = pricesOf(provider);
  const units = thousands?.(model) ?? {};
  const unlisted = priceOf?.(model);
  if (unlisted) {
    // Models of speech run no tools.
    const rates = withUnits(unlistedRates(unlisted), unlisted.tokens ? units : {});
    return { steps: [], ratesOf: () => rates, bySize: [] };
  }
  for (const name of [...names, ...names.map(withoutVersion)]) {
    const prices = listedPrices(id, name, at);
    if (prices === null) continue;
    const perRequest = (thousandRequests?.(name) ?? 0) * 1_000;
    const ratesOf = (inputTokens: number): Rates => {
      const rates = withUnits(withPricesOfAnthropic(toRates(prices, inputTokens), name), units);
      return perRequest > 0 && rates.perRequest === 0 ? { ...rates, perRequest } : rates;
    };
    return { steps: stepsOf(prices), ratesOf, bySize: [] };
  }
  return null;
}

function stepsOf(prices: Listed): number[] {
  const tiered = Object.values(prices) as (Partial<Tiered> | number | null)[];
  const steps = tiered.flatMap((price) => (typeof price === 'object' ? (price?.tiers ?? []) : []).map(({ start }) => start));
  return [...new Set(steps)].sort((one, other) => one - other);
}

/** Adds prices of a thousand units in US dollars for units that the list has no price of. Most models have all of them. */
function withUnits(rates: Rates, thousands: Readonly<Record<string, number>>): Rates {
  const missing = Object.entries(thousands).filter(([unit]) => rates.units[unit] === undefined);
  if (missing.length === 0) return rates;
  return { ...rates, units: { ...rates.units, ...Object.fromEntries(missing.map(([unit, price]) => [unit, price * 1_000])) } };
}

function unlistedRates({ tokens, characters }: UnlistedPrice): Rates {
  return {
    tokens: tokens
      ? {
          ...{ request_token: tokens.input, response_token: tokens.output },
          ...(tokens.cacheRead === undefined ? {} : { cache_read_input_token: tokens.cacheRead }),
        }
      : {},
    units: characters === undefined ? {} : { characters },
    perRequest: 0,
  };
}

/** Returns the name that a dated snapshot or a `-latest` alias is a version of. The list lacks many of them, and their price is that of the name. */
function withoutVersion(model: string): string {
  return model.replace(/(?:[-@]\d{4}-\d{2}-\d{2}|[-@]\d{8}|-latest)$/, '');
}

/** Maximum length of a model name in records. Names in the usage of a provider, such as that of an advisor, may be longer. */
const nameCharsMax = 255;

/**
 * Adds prices to a model of Anthropic that the list has for it at Anthropic only and that are the same at all clouds: a cache write for an hour costs twice
 * the price of input, and a thousand searches of the web 10 dollars. https://platform.claude.com/docs/en/about-claude/pricing
 */
function withPricesOfAnthropic(rates: Rates, name: string): Rates {
  const { request_token: input, cache_write_input_token: shortWrite } = rates.tokens;
  if (!name.includes('claude') || input === undefined || shortWrite === undefined) return rates;
  return { ...rates, units: { cache_write_1h: 2 * input, web_search: 10_000, ...rates.units } };
}

type Listed = Readonly<Record<string, unknown>>;

/** A price by the number of input tokens. */
interface Tiered {
  readonly base: number;
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}

function listedPrices(providerId: string, model: string, at: Date): Listed | null {
  const name = `${providerId}/${model}`;
  if (unknownModels.has(name)) return null;
  try {
    const found = calcPrice({}, model, { providerId, timestamp: at });
    if (found) return found.model_price;
  } catch {
    // A price list that cannot price an empty request cannot price others.
  }
  unknownModels.set(name, true);
  return null;
}

/** Callers choose model names, so this cache is bounded. */
const unknownModels = new LRUCache<string, true>({ max: 5_000 });
/** Prices by provider, model and minute. They change at whole minutes. A look-up in the list took 15 % of the time of storing a record. */
const knownPrices = new LRUCache<string, ModelPrices>({ max: 1_000 });

function toRates(listed: Listed, inputTokens: number): Rates {
  const tokens: Partial<Record<TokenUnit, number>> = {};
  const units: Record<string, number> = {};
  let perRequest = 0;
  for (const [name, value] of Object.entries(listed)) {
    const price = atSize(value, inputTokens);
    if (price === null) continue;
    const unit = listedTokens[name];
    const other = listedUnits[name];
    if (unit) tokens[unit] = price;
    else if (other) units[other.unit] = price * other.factor;
    else if (name === 'requests_kcount') perRequest = price * 1_000;
  }
  return { tokens, units, perRequest };
}

/** Returns a price, or the one of the size class that a request belongs to. */
function atSize(price: unknown, inputTokens: number): number | null {
  if (typeof price === 'number') return price;
  const tiered = price as Partial<Tiered> | undefined;
  if (typeof tiered?.base !== 'number') return null;
  return (tiered.tiers ?? []).reduce((found, tier) => (inputTokens > tier.start ? tier.price : found), tiered.base);
}

/** Prices per million tokens by their names in the list. */
const listedTokens: Readonly<Record<string, TokenUnit>> = {
  input_mtok: 'request_token',
  output_mtok: 'response_token',
  cache_read_mtok: 'cache_read_input_token',
  cache_write_mtok: 'cache_write_input_token',
  input_audio_mtok: 'request_audio_token',
  output_audio_mtok: 'response_audio_token',
  cache_audio_read_mtok: 'cache_read_audio_input_token',
  input_image_mtok: 'request_image_token',
  output_image_mtok: 'response_image_token',
  cache_image_read_mtok: 'cache_read_image_input_token',
  output_reasoning_mtok: 'reasoning_token',
};

/** Other units, with the factor from a price in the list's own unit to micro-USD per unit. */
const listedUnits: Readonly<Record<string, { readonly unit: string; readonly factor: number }>> = {
  cache_write_1h_mtok: { unit: 'cache_write_1h', factor: 1 },
  web_searches_kcount: { unit: 'web_search', factor: 1_000 },
  storage_searches_kcount: { unit: 'file_search', factor: 1_000 },
  input_document_kpages: { unit: 'pages', factor: 1_000 },
  audio_hours: { unit: 'audio_seconds', factor: 1e6 / 3_600 },
};

import type { MediaRecord, RequestRecord } from '../../core/contract/plugin/record/record.ts';
import { isObject, type JsonObject, objectsIn } from '../../core/contract/values/json/json.ts';
import { imageRate } from '../../core/contract/values/models/image-rate.ts';
import { statedCount } from '../../core/contract/values/models/usage.ts';
import { type Amounts, type Calculation, calculate } from './calculation.ts';
import { costMax, nanoPerMicro, roundedNano } from './nano-usd.ts';
import { batchFactor, fullPriceUnits } from './rates.ts';
import type { PricingAdjustments } from './schema.ts';
import { type Rates, type TokenUnit, tokenUnits } from './units.ts';

/** Billed fields of a record. */
export type BilledUsage = Pick<
  RequestRecord,
  'inputTokens' | 'cacheReadTokens' | 'cacheWriteTokens' | 'outputTokens' | 'reasoningTokens' | 'media' | 'image' | 'rawUsage'
>;

export interface CostOptions {
  readonly adjustments?: PricingAdjustments | null;
  /** True for a batch of the provider, which costs half of these rates, except searches. */
  readonly isBatch?: boolean;
  /** Number of requests the usage covers. Default 1. */
  readonly requests?: number;
}

export interface Cost {
  /** Null if a usage that is not empty has no price at all. */
  readonly costNanoUsd: number | null;
  /** Units without a price. The cost is without them. */
  readonly unpriced: readonly string[];
}

/**
 * Returns the cost of the usage in whole nano-USD, rounded once at the end. Usage without a price of its own is billed as the kind it
 * is a part of (cached input as input, audio as text).
 */
export function costOf(counted: BilledUsage, rates: Rates, options: CostOptions = {}): Cost {
  const usage = billedUsage(counted);
  const bill = new Bill(rates, options.adjustments ?? null);
  const details = detailsOf(usage.rawUsage);
  const media = usage.media ?? noMedia;

  const { request, response } = rates.calculate ?? {};
  const hasInput = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens > 0;
  if (!request) addInput(bill, usage, media, details);
  else if (hasInput) bill.calculated(request, amountsOf(usage, media));
  if (!response) addOutput(bill, usage, media, details);
  else if (usage.outputTokens > 0) bill.calculated(response, amountsOf(usage, media));

  const { generated_images: images = 0, ...units } = media.units;
  bill.images(images, usage.image ?? null);
  for (const [unit, amount] of Object.entries(units)) if (!isBilledOtherwise(unit, units, rates)) bill.unit(amount, unit);
  bill.unit(details.webSearches, 'web_search');
  const costNanoUsd = bill.total(options.isBatch ? batchFactor : 1, options.requests ?? 1);
  return { costNanoUsd, unpriced: bill.unpriced };
}

/** A grounded reply of Gemini has both counts, and its model is billed by one of them. */
function isBilledOtherwise(unit: string, used: MediaRecord['units'], rates: Rates): boolean {
  const other = unit === 'web_search' ? 'grounded_prompts' : unit === 'grounded_prompts' ? 'web_search' : null;
  return other !== null && (used[other] ?? 0) > 0 && rates.units[unit] === undefined && rates.units[other] !== undefined;
}

/**
 * Cohere's reply names the tokens it charges for. They are fewer than those it counts, and none of them is charged as cached.
 * https://docs.cohere.com/docs/how-does-cohere-pricing-work
 */
function billedUsage(usage: BilledUsage): BilledUsage {
  const billed = object(usage.rawUsage, 'billed_units');
  if (billed === null) return usage;
  const [input, output] = [statedCount(billed.input_tokens), statedCount(billed.output_tokens)];
  return {
    ...usage,
    ...(Number.isNaN(input) ? {} : { inputTokens: input, cacheReadTokens: 0 }),
    ...(Number.isNaN(output) ? {} : { outputTokens: output }),
  };
}

function addInput(bill: Bill, usage: BilledUsage, media: MediaRecord, details: Details): void {
  const input = bill.pool(usage.inputTokens);
  input.take(media.audioInputTokens - details.cachedAudio, ['request_audio_token']);
  input.take(media.imageInputTokens - details.cachedImage, ['request_image_token']);
  input.takeRest(['request_text_token', 'request_token']);

  const cacheRead = bill.pool(usage.cacheReadTokens);
  cacheRead.take(details.cachedAudio, ['cache_read_audio_input_token']);
  cacheRead.take(details.cachedImage, ['cache_read_image_input_token']);
  cacheRead.takeRest(['cache_read_text_input_token', 'cache_read_input_token', 'request_text_token', 'request_token']);

  const cacheWrite = bill.pool(usage.cacheWriteTokens);
  cacheWrite.takeUnit(details.longCacheWrite, 'cache_write_1h');
  cacheWrite.takeRest(['cache_write_text_input_token', 'cache_write_input_token', 'request_text_token', 'request_token']);
}

function addOutput(bill: Bill, usage: BilledUsage, media: MediaRecord, details: Details): void {
  const output = bill.pool(usage.outputTokens);
  output.take(media.audioOutputTokens, ['response_audio_token']);
  output.take(media.imageOutputTokens, ['response_image_token']);
  output.take(usage.reasoningTokens, ['reasoning_token']);
  output.take(details.predictionAccepted, ['prediction_accepted_token']);
  output.take(details.predictionRejected, ['prediction_rejected_token']);
  output.takeRest(['response_text_token', 'response_token']);
}

function amountsOf(usage: BilledUsage, media: MediaRecord): Amounts {
  return {
    input_tokens: usage.inputTokens,
    cache_read_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    output_tokens: usage.outputTokens,
    reasoning_tokens: usage.reasoningTokens,
    audio_input_tokens: media.audioInputTokens,
    audio_output_tokens: media.audioOutputTokens,
    image_input_tokens: media.imageInputTokens,
    image_output_tokens: media.imageOutputTokens,
  };
}

const none: readonly string[] = [];

const noMedia: MediaRecord = { audioInputTokens: 0, audioOutputTokens: 0, imageInputTokens: 0, imageOutputTokens: 0, units: {} };

class Bill {
  readonly #rates: Rates;
  readonly #multiplier: PricingAdjustments['multiplier'] | null;
  #sum = 0;
  /** Amounts that batches do not cost less for. */
  #full = 0;
  #priced = false;
  #unpriced: string[] | null = null;
  #tokensPriced = false;
  #workPriced = false;

  constructor(rates: Rates, adjustments: PricingAdjustments | null) {
    this.#rates = rates;
    this.#multiplier = adjustments?.multiplier ?? null;
  }

  /** Without a count of the same work as one that has a price: models of speech are billed by tokens or by characters. */
  get unpriced(): readonly string[] {
    if (this.#unpriced === null) return none;
    const isElsewhere = { tokens: this.#workPriced, work: this.#tokensPriced || this.#workPriced, tools: false };
    return this.#unpriced.filter((unit) => !isElsewhere[kindOf(unit)]);
  }

  /** Adds tokens of one kind, some of which may have prices of their own. */
  pool(tokens: number) {
    let left = tokens;
    const take = (amount: number, units: readonly TokenUnit[]): void => {
      const unit = units.find((one) => this.#rates.tokens[one] !== undefined);
      const taken = Math.min(Math.max(0, amount), left);
      if (unit === undefined || taken === 0) return;
      left -= taken;
      this.#tokensPriced = true;
      this.#add(taken * (this.#rates.tokens[unit] as number) * this.#factor(this.#multiplier?.[unit]));
    };
    return {
      take,
      takeUnit: (amount: number, unit: string): void => {
        const taken = Math.min(Math.max(0, amount), left);
        if (this.#rates.units[unit] === undefined || taken === 0) return;
        left -= taken;
        this.unit(taken, unit);
      },
      takeRest: (units: readonly TokenUnit[]): void => {
        take(left, units);
        if (left > 0) this.#lacks(units.at(-1) as TokenUnit);
      },
    };
  }

  /** Adds an amount that the price list computes in its own way. */
  calculated(how: Calculation, amounts: Amounts): void {
    this.#tokensPriced = true;
    this.#add(calculate(how, amounts, (unit) => this.#rateOf(unit)));
  }

  /** Adds images, priced by quality and size if the list distinguishes them. */
  images(count: number, kind: BilledUsage['image'] | null): void {
    const { images } = this.#rates;
    if (count <= 0 || !images) return this.unit(count, 'generated_images');
    const rate = imageRate(images, kind?.quality, kind?.size);
    if (rate === undefined) return this.#lacks('generated_images');
    this.#workPriced = true;
    this.#add(count * rate * this.#factor(this.#multiplier?.image?.default));
  }

  /** Adds an amount that is not counted in tokens. */
  unit(amount: number, unit: string): void {
    if (amount <= 0) return;
    const rate = this.#rates.units[unit];
    if (rate === undefined) return this.#lacks(unit);
    if (kindOf(unit) === 'work') this.#workPriced = true;
    const own = this.#multiplier?.additional_units?.[unit];
    const price = amount * rate * this.#factor(own ?? (unit === 'generated_images' ? this.#multiplier?.image?.default : null));
    if (!fullPriceUnits.has(unit)) return this.#add(price);
    this.#full += price;
    this.#priced = true;
  }

  total(factor: number, requests: number): number | null {
    if (this.#unpriced !== null && !this.#priced) return null;
    const reduced = this.#sum + (this.#priced ? this.#rates.perRequest * requests : 0);
    const microUsd = reduced * factor + this.#full;
    return Number.isNaN(microUsd) ? null : Math.min(roundedNano(microUsd * nanoPerMicro), costMax);
  }

  #lacks(unit: string): void {
    this.#unpriced ??= [];
    if (!this.#unpriced.includes(unit)) this.#unpriced.push(unit);
  }

  #add(microUsd: number): void {
    this.#sum += microUsd;
    this.#priced = true;
  }

  /** Returns the rate with its multiplier. A unit without a price costs nothing, but saved prices cannot lack one. */
  #rateOf(unit: string): number {
    const ofTokens = this.#rates.tokens[unit as TokenUnit];
    if (ofTokens !== undefined) return ofTokens * this.#factor(this.#multiplier?.[unit as TokenUnit]);
    return (this.#rates.units[unit] ?? 0) * this.#factor(this.#multiplier?.additional_units?.[unit]);
  }

  #factor(own: number | null | undefined): number {
    return own ?? this.#multiplier?.default ?? 1;
  }
}

/** Counts of the work of a model in other units than tokens. */
const workUnits: ReadonlySet<string> = new Set(['generated_images', 'characters', 'audio_seconds', 'pages', 'search_units']);

function kindOf(unit: string): 'tokens' | 'work' | 'tools' {
  if ((tokenUnits as readonly string[]).includes(unit)) return 'tokens';
  return workUnits.has(unit) ? 'work' : 'tools';
}

type Details = ReturnType<typeof detailsOf>;

/** Returns the counts that only the provider's own usage object contains. Absent counts are 0. */
function detailsOf(raw: BilledUsage['rawUsage']) {
  const input = object(raw, 'input_token_details') ?? object(raw, 'input_tokens_details') ?? object(raw, 'prompt_tokens_details');
  const cached = object(input, 'cached_tokens_details');
  const output = object(raw, 'completion_tokens_details') ?? object(raw, 'output_tokens_details');
  return {
    cachedAudio: count(cached, 'audio_tokens') || cachedOf(raw, 'AUDIO'),
    cachedImage: count(cached, 'image_tokens') || cachedOf(raw, 'IMAGE'),
    predictionAccepted: count(output, 'accepted_prediction_tokens'),
    predictionRejected: count(output, 'rejected_prediction_tokens'),
    longCacheWrite: count(object(raw, 'cache_creation'), 'ephemeral_1h_input_tokens') || longWritesOf(raw),
    webSearches:
      count(object(raw, 'server_tool_use'), 'web_search_requests') ||
      count(object(object(raw, 'tool_usage'), 'web_search'), 'num_requests') ||
      count(raw, 'num_search_queries'),
  };
}

/** Gemini lists cached tokens by modality. https://ai.google.dev/api/generate-content#UsageMetadata */
function cachedOf(raw: BilledUsage['rawUsage'], modality: string): number {
  return sumOf(raw?.cacheTokensDetails, 'tokenCount', (part) => part.modality === modality);
}

/** Bedrock lists written tokens by the time for which they are cached. */
function longWritesOf(raw: BilledUsage['rawUsage']): number {
  return sumOf(raw?.cacheDetails, 'inputTokens', (part) => part.ttl === '1h');
}

function sumOf(list: unknown, name: string, isCounted: (part: JsonObject) => boolean): number {
  return objectsIn(list)
    .filter(isCounted)
    .reduce((sum, part) => sum + count(part, name), 0);
}

function object(from: unknown, name: string): Record<string, unknown> | null {
  const value = isObject(from) ? from[name] : null;
  return isObject(value) ? value : null;
}

function count(from: unknown, name: string): number {
  const value = isObject(from) ? statedCount(from[name]) : 0;
  return value > 0 ? value : 0;
}

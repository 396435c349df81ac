import type { JsonObject } from '../contract/values/json/json.ts';

/** Prices of a provider that the public price list does not state. */
export interface ProviderPrices {
  /** Returns factors on the usual price of tokens, by service tier, for the tiers in which tokens of a model have another price. */
  readonly tiers?: (model: string) => TierFactors;
  /** Returns prices in US dollars of a thousand units other than tokens, for those that the list lacks. */
  readonly thousands?: (model: string) => Readonly<Record<string, number>>;
  /** Returns the price of a thousand requests in US dollars, beside tokens, for models that the list has without it. */
  readonly thousandRequests?: (model: string) => number;
  /** Returns a factor on the usual price of tokens that follows from the usage, such as the place of the call. */
  readonly usageFactor?: (usage: JsonObject) => number;
  /** Returns the cost in US dollars that the usage states. Null or NaN: it states none. */
  readonly statedCost?: (usage: JsonObject) => number | null;
  /** Returns the published price of a model that the list lacks. Null: there is none, or the list has it. */
  readonly unlisted?: (model: string) => UnlistedPrice | null;
}

export type TierFactors = Readonly<Record<string, number>>;

/** US dollars per million tokens, or per million characters. */
export interface UnlistedPrice {
  /** `cacheRead` is absent if cached input has no price of its own. */
  readonly tokens?: { readonly input: number; readonly cacheRead?: number; readonly output: number };
  readonly characters?: number;
}

/** Factor of the tier `flex` at all providers that have it. */
export const flexFactor = 0.5;

/** Factors of a model whose tokens have one price in all tiers. */
export const noTiers: TierFactors = {};

/** Returns the tiers of Gemini's models at the Gemini API and at Vertex AI: https://ai.google.dev/gemini-api/docs/optimization */
export function geminiTiers(model: string): TierFactors {
  return model.includes('gemini') ? { flex: flexFactor, priority: 1.8 } : noTiers;
}

/**
 * Returns the prices of grounding with Google Search. Models before Gemini 3 cost 35 dollars per thousand prompts that were grounded, with any number of
 * queries; later ones 14 dollars per thousand queries. Free amounts per day or month are not subtracted: https://ai.google.dev/gemini-api/docs/pricing
 */
export function searchesOfGemini(model: string): Readonly<Record<string, number>> {
  if (!model.includes('gemini')) return {};
  return /gemini-(?:[a-z]+-)*[12](?!\d)/.test(model) ? { grounded_prompts: 35 } : { web_search: 14 };
}

/** Returns an amount of money in a usage; NaN for values that are none. */
export function statedAmount(value: unknown): number {
  return typeof value === 'number' && value >= 0 ? value : Number.NaN;
}

import type { Rates } from './units.ts';

/** Factors on the usual price of tokens, by service tier. */
type TierFactors = Readonly<Record<string, number>>;

/** Returns the service tiers in which tokens of a model have another price than the usual one. */
export function pricedTiers(provider: string, model: string): string[] {
  return Object.keys(factorsOf(provider, model));
}

/**
 * Returns the factor of a service tier on the usual price of tokens, which the public list lacks. It is 1 for tiers that are bought in advance and
 * have no price per token: `scale` of OpenAI, `priority` of Anthropic, `reserved` of Bedrock.
 */
export function tierFactor(provider: string, model: string, tier: string | null): number {
  // Most records state no tier or this one, and are not compared with each line.
  if (tier === null || tier === 'default') return 1;
  const factors = factorsOf(provider, model);
  return Object.hasOwn(factors, tier) ? (factors[tier] ?? 1) : 1;
}

/** Returns rates with other prices of tokens. Those of searches and requests stay: they are the same in all tiers. */
export function ratesTimes(rates: Rates, factor: number): Rates {
  if (factor === 1) return rates;
  const { cache_write_1h: longWrite, ...units } = rates.units;
  return {
    ...rates,
    tokens: Object.fromEntries(Object.entries(rates.tokens).map(([unit, price]) => [unit, price * factor])),
    units: longWrite === undefined ? units : { ...units, cache_write_1h: longWrite * factor },
  };
}

const none: TierFactors = {};
const flex = 0.5;

/**
 * Prices of `priority` as factors of the usual ones, read on 2026-11-30: https://openai.com/api-fast-mode/. The first line that matches a model
 * counts. The tier is called `fast` since 2026-07-30, and requests may name either.
 */
const priorityOfOpenAi: readonly (readonly [RegExp, number])[] = [
  // Tokens of these models have one price in all tiers.
  [/image|audio|realtime|tts|transcribe|embedding|moderation|search|^ft:/, 1],
  [/gpt-5\.5/, 2.5],
  [/gpt-5-mini/, 0.45 / 0.25],
  [/gpt-4\.1-nano/, 2],
  [/gpt-4\.1|o3(?!-mini|-pro)|gpt-4o-2024-05-13/, 1.75],
  [/gpt-4o-mini/, 0.25 / 0.15],
  [/gpt-4o/, 1.7],
  [/o4-mini/, 2 / 1.1],
  [/gpt-\d/, 2],
];

function ofOpenAi(model: string): TierFactors {
  const priority = priorityOfOpenAi.find(([pattern]) => pattern.test(model))?.[1] ?? 1;
  return priority === 1 ? none : { flex, priority, fast: priority };
}

/** https://platform.claude.com/docs/en/build-with-claude/fast-mode */
function ofAnthropic(model: string): TierFactors {
  return { fast: /opus-4-[67]/.test(model) ? 6 : 2 };
}

/** https://ai.google.dev/gemini-api/docs/optimization */
function ofGemini(model: string): TierFactors {
  return model.includes('gemini') ? { flex, priority: 1.8 } : none;
}

function factorsOf(provider: string, model: string): TierFactors {
  return byProvider.get(provider)?.(model) ?? none;
}

const byProvider = new Map<string, (model: string) => TierFactors>(
  Object.entries({
    openai: ofOpenAi,
    'azure-openai': ofOpenAi,
    'azure-ai': ofOpenAi,
    anthropic: ofAnthropic,
    google: ofGemini,
    'vertex-ai': ofGemini,
    bedrock: () => ({ flex, priority: 1.75 }),
  }),
);

/**
 * Returns the factor of the geography in which Anthropic ran a call (`inference_geo` of its usage).
 * https://platform.claude.com/docs/en/manage-claude/data-residency
 */
export function geoFactor(provider: string, geo: unknown): number {
  return provider === 'anthropic' && geo === 'us' ? 1.1 : 1;
}

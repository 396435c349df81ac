import { flexFactor, noTiers, type TierFactors, type UnlistedPrice } from './provider-prices.ts';

/**
 * Prices of `priority` at OpenAI as factors of the usual ones, read on 2026-11-30: https://openai.com/api-fast-mode/. The first line that matches a
 * model counts. The tier is called `fast` since 2026-07-30, and requests may name either.
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

/** Returns the tiers of OpenAI's models, at OpenAI and at Azure. */
export function openAiTiers(model: string): TierFactors {
  const priority = priorityOfOpenAi.find(([pattern]) => pattern.test(model))?.[1] ?? 1;
  return priority === 1 ? noTiers : { flex: flexFactor, priority, fast: priority };
}

/** Dollars per thousand calls of tools of the Responses API: https://developers.openai.com/api/docs/pricing */
export const toolsOfOpenAi = (model: string): Readonly<Record<string, number>> =>
  searchesAlways(model) ? searchIncluded : callsOfTools;
const callsOfTools = { web_search: 10, file_search: 2.5 };
const searchIncluded = { web_search: 0 };

/**
 * Dollars per thousand requests to models of chat completions that search before each reply, at the price of "web search preview (non-reasoning
 * models)": https://developers.openai.com/api/docs/pricing and https://developers.openai.com/api/docs/guides/tools-web-search
 */
export const requestsOfOpenAi = (model: string): number => (searchesAlways(model) ? 25 : 0);
const searchesAlways = (model: string): boolean => /^gpt-4o(-mini)?-search-preview/.test(model);

type Row = readonly [model: RegExp, price: UnlistedPrice];

/**
 * Prices that OpenAI publishes and the public list lacks, or has for a part of the names only: https://developers.openai.com/api/docs/pricing.
 * The first line that matches a model counts. Fine-tuned models of Azure have the price of their base, and a price per hour.
 */
const rows: readonly Row[] = [
  [/^ft:gpt-4\.1-nano/, { tokens: { input: 0.2, cacheRead: 0.05, output: 0.8 } }],
  [/^ft:gpt-4\.1-mini/, { tokens: { input: 0.8, cacheRead: 0.2, output: 3.2 } }],
  [/^ft:gpt-4\.1/, { tokens: { input: 3, cacheRead: 0.75, output: 12 } }],
  [/^ft:gpt-4o-mini/, { tokens: { input: 0.3, cacheRead: 0.15, output: 1.2 } }],
  [/^ft:gpt-4o/, { tokens: { input: 3.75, cacheRead: 1.875, output: 15 } }],
  [/^ft:o4-mini/, { tokens: { input: 4, cacheRead: 1, output: 16 } }],
  [/^ft:gpt-3\.5-turbo/, { tokens: { input: 3, output: 6 } }],
  [/^ft:davinci-002/, { tokens: { input: 12, output: 12 } }],
  [/^ft:babbage-002/, { tokens: { input: 1.6, output: 1.6 } }],
  [/^davinci-002$/, { tokens: { input: 2, output: 2 } }],
  [/^babbage-002$/, { tokens: { input: 0.4, output: 0.4 } }],
  [/^tts-1-hd(?:-\d+)?$/, { characters: 30 }],
  [/^tts-1(?:-\d+)?$/, { characters: 15 }],
];

/** How all of these names begin: most records have others and are not compared with each line. */
const beginnings = /^(?:ft:|davinci-|babbage-|tts-1)/;

/** Returns the published price of a model that the public list lacks; null for other models. */
export function unlistedPrice(model: string): UnlistedPrice | null {
  return beginnings.test(model) ? (rows.find(([pattern]) => pattern.test(model))?.[1] ?? null) : null;
}

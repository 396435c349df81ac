import type { JsonObject } from '../json/json.ts';

/**
 * Units of tools that a provider runs: `web_search` queries that it has sent to a search engine, `grounded_prompts` requests with such a query,
 * `file_search` searches in stores of files, `maps_prompts` requests whose reply has sources of Google Maps, `code_interpreter` runs of code in a container.
 */
export const toolUnits = ['web_search', 'grounded_prompts', 'file_search', 'maps_prompts', 'code_interpreter'] as const;

/** Units of usage other than tokens. `audio_seconds` counts transcribed input, `characters` the text of speech. */
export const usageUnits = ['generated_images', 'audio_seconds', 'characters', 'search_units', 'pages', ...toolUnits] as const;
export type UsageUnit = (typeof usageUnits)[number];

/** Value of `units` if nothing is counted in other units than tokens. Always the same object. */
export const noUnits: Readonly<Partial<Record<UsageUnit, number>>> = Object.freeze({});

/**
 * More tokens or micro-USD than any call uses. Higher counts from a broken or hostile provider are reduced to it. Sums then stay
 * within the limits of records and ledgers, which would otherwise reject the count and everything sent with it.
 */
export const unitsPerCallMax = 1e11;

/** Tokens of one reply, counted the same way for every provider, streamed or plain. All counts are whole tokens ≥ 0. */
export interface Usage {
  /** Input tokens that were neither read from nor written to the provider's prompt cache. */
  inputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** All output tokens, reasoning included. */
  outputTokens: number;
  /** The part of the output that was reasoning. */
  reasoningTokens: number;
  audioInputTokens: number;
  audioOutputTokens: number;
  /** The parts of input and output that were images. */
  imageInputTokens: number;
  imageOutputTokens: number;
  /** Amounts counted in other units than tokens: `UsageUnit` → amount. */
  units: Readonly<Partial<Record<UsageUnit, number>>>;
  /** Service tier that the provider reports for its response; null for the default tier. */
  serviceTier: string | null;
  /** True if the provider sent no counts and these are estimates. */
  estimated: boolean;
  /** The provider's own usage object, with the `tool_usage` beside it in responses of OpenAI. */
  raw: JsonObject | null;
}

/** Returns counts of zero, for adapters to replace those that the provider reports. */
export function emptyUsage(): Usage {
  return {
    inputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
    audioInputTokens: 0,
    audioOutputTokens: 0,
    imageInputTokens: 0,
    imageOutputTokens: 0,
    units: noUnits,
    serviceTier: null,
    estimated: false,
    raw: null,
  };
}

/** Adds up the usage of several replies. `raw` and `serviceTier` are those of the last. `all` holds at least one. */
export function sumUsage(all: readonly Usage[]): Usage {
  const sum = { ...(all.at(-1) ?? emptyUsage()) };
  for (const usage of all.slice(0, -1)) {
    for (const name of tokenCounts) sum[name] += usage[name];
    const units: Partial<Record<UsageUnit, number>> = { ...sum.units };
    for (const unit of usageUnits) if (usage.units[unit]) units[unit] = (units[unit] ?? 0) + (usage.units[unit] ?? 0);
    sum.units = units;
    sum.estimated ||= usage.estimated;
  }
  return sum;
}

const tokenCounts = [
  ...(['inputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'outputTokens', 'reasoningTokens'] as const),
  ...(['audioInputTokens', 'audioOutputTokens', 'imageInputTokens', 'imageOutputTokens'] as const),
];

/** Returns the service tier that a response states or a request asks for; null for the default one, and for values that are not a tier. */
export function serviceTierOf(value: unknown): string | null {
  const tier = typeof value === 'string' ? value.toLowerCase().slice(0, 64) : null;
  return tier !== null && usualTiers.has(tier) ? null : tier;
}

/** Names of the default tier in responses, and of the choice of it in requests. */
const usualTiers: ReadonlySet<string> = new Set(['default', 'standard', 'standard_only', 'auto']);

/**
 * Returns the count that a provider states. Some compatible servers and proxies send it as the text of a number. NaN for all other values, which
 * are no counts.
 */
export function statedCount(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && decimal.test(value) ? Number(value) : Number.NaN;
}

const decimal = /^\d{1,15}(?:\.\d{1,15})?$/;

/** Input of every kind. */
export function inputTokensOf(usage: Pick<Usage, 'inputTokens' | 'cacheReadTokens' | 'cacheWriteTokens'>): number {
  return usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
}

/** Input of every kind plus output. */
export function totalTokens(usage: Pick<Usage, 'inputTokens' | 'cacheReadTokens' | 'cacheWriteTokens' | 'outputTokens'>): number {
  return inputTokensOf(usage) + usage.outputTokens;
}

/** Maximum of `x-svc-audio-file-duration`: a week, longer than any file that providers accept. */
export const audioSecondsMax = 604_800;

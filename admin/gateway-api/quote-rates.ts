import { emptyRecord, type RequestRecord } from '../../core/contract/plugin/record/record.ts';
import type { ModelRates } from '../../core/contract/protocol/limits/leases.ts';
import type { ImageRates } from '../../core/contract/values/models/image-rate.ts';
import { toolUnits } from '../../core/contract/values/models/usage.ts';
import type { EntityManager } from '../db/open-database.ts';
import { nanoPerMicro } from '../pricing/nano-usd.ts';
import { priceRecord, publicModel, savedPricing } from '../pricing/price-record.ts';
import { priceSteps } from '../pricing/rates.ts';
import { pricedTiers } from '../pricing/tier-factors.ts';
import { readPricing } from '../resources/integrations/models/read-pricing.ts';

type Quoted = Pick<RequestRecord, 'provider' | 'providerSlug' | 'model'> & { readonly workspaceId: string };

/**
 * Number of tokens in a quote: enough to make rounding to whole nano-USD irrelevant, and too few for the prices of long requests.
 */
const tokens = 10_000;

/**
 * Returns the cost of a token, a call of a tool, a character of speech and an image of this model, from the prices that records are billed by.
 * Null if there is no price.
 * The rates serve estimates and exclude usage details with prices of their own.
 */
export async function quoteRates(em: EntityManager, call: Quoted, nowMs: number): Promise<ModelRates | null> {
  const pricing = (await readPricing(em, [call]))(call);
  const saved = pricing && savedPricing(pricing, call.model ?? '', new Date(nowMs));
  const sample = { ...emptyRecord, id: '', traceId: '', createdAt: new Date(nowMs).toISOString(), endpoint: 'chatComplete' };
  const costOf: CostOf = (usage) => priceRecord({ ...sample, ...call, ...usage }, pricing).costNanoUsd;
  const usual = tokenRates(costOf);
  const { provider, model } = { provider: call.provider ?? '', model: publicModel(pricing, call.model ?? '') };
  const steps = saved ? [] : priceSteps(provider, model, new Date(nowMs));
  const sizes = steps.map((above) => ({ above, ...longRates(costOf, above + 1) }));
  const searches = searchRates(costOf);
  const images = imageRates(costOf, saved?.pay_as_you_go.image ?? { default: { default: { price: 0 } } });
  const characters = characterRate(costOf);
  if (usual === null && images === null && characters === null) return null;
  const tierNames = saved ? Object.keys(saved.service_tiers ?? {}) : pricedTiers(provider, model);
  const tiers = tierNames.flatMap((serviceTier) => {
    const rates = tokenRates((usage) => costOf({ ...usage, serviceTier }));
    return rates ? [[serviceTier, rates] as const] : [];
  });
  return {
    ...(usual ?? { input: 0, output: 0, cacheRead: 0 }),
    ...(tiers.length > 0 ? { tiers: Object.fromEntries(tiers) } : {}),
    ...(sizes.length > 0 ? { sizes } : {}),
    ...(Object.keys(searches).length > 0 ? { searches } : {}),
    ...(usual && mediaRates(costOf, usual)),
    ...(characters === null ? {} : { characters }),
    ...(images ? { images } : {}),
  };
}

/** Nano-USD. */
type CostOf = (usage: Partial<RequestRecord>) => number | null;

/** Null: no price for tokens. */
function tokenRates(costOf: CostOf): Pick<ModelRates, 'input' | 'output' | 'cacheRead'> | null {
  const input = costOf({ inputTokens: tokens });
  const output = costOf({ outputTokens: tokens });
  const cacheRead = costOf({ cacheReadTokens: tokens });
  if (input === null && output === null) return null;
  const perToken = (cost: number | null): number => (cost ?? 0) / (tokens * nanoPerMicro);
  return { input: perToken(input), output: perToken(output), cacheRead: perToken(cacheRead ?? input) };
}

/** Returns the cost of a token in a call with this many input tokens. */
function longRates(costOf: CostOf, inputTokens: number): Pick<ModelRates, 'input' | 'output' | 'cacheRead'> {
  const ofInput = costOf({ inputTokens }) ?? 0;
  const ofOutput = (costOf({ inputTokens, outputTokens: tokens }) ?? ofInput) - ofInput;
  const ofCached = costOf({ cacheReadTokens: inputTokens }) ?? ofInput;
  const perToken = (cost: number, count: number): number => cost / (count * nanoPerMicro);
  return {
    ...{ input: perToken(ofInput, inputTokens), output: perToken(ofOutput, tokens) },
    cacheRead: perToken(ofCached, inputTokens),
  };
}

/** Returns the cost of one call of each kind of tool that the provider runs. Absent: no price. */
function searchRates(costOf: CostOf): Record<string, number> {
  const media = { audioInputTokens: 0, audioOutputTokens: 0, imageInputTokens: 0, imageOutputTokens: 0 };
  const found = toolUnits.map((unit) => [unit, costOf({ media: { ...media, units: { [unit]: 1 } } })] as const);
  return Object.fromEntries(found.flatMap(([unit, cost]) => (cost === null ? [] : [[unit, cost / nanoPerMicro]])));
}

/** Returns the costs of tokens of images and audio, if they differ from those of text. */
function mediaRates(
  costOf: CostOf,
  text: Pick<ModelRates, 'input' | 'output'>,
): Pick<ModelRates, 'imageOutput' | 'audioInput' | 'audioOutput'> {
  const none = { audioInputTokens: 0, audioOutputTokens: 0, imageInputTokens: 0, imageOutputTokens: 0, units: {} };
  const found = {
    imageOutput: [text.output, costOf({ outputTokens: tokens, media: { ...none, imageOutputTokens: tokens } })],
    audioInput: [text.input, costOf({ inputTokens: tokens, media: { ...none, audioInputTokens: tokens } })],
    audioOutput: [text.output, costOf({ outputTokens: tokens, media: { ...none, audioOutputTokens: tokens } })],
  } as const;
  return Object.fromEntries(
    Object.entries(found).flatMap(([name, [usual, cost]]) => {
      const perToken = (cost ?? 0) / (tokens * nanoPerMicro);
      return cost === null || perToken === usual ? [] : [[name, perToken]];
    }),
  );
}

/** Returns the cost of one character of speech. Null: no price for characters. */
function characterRate(costOf: CostOf): number | null {
  const media = { audioInputTokens: 0, audioOutputTokens: 0, imageInputTokens: 0, imageOutputTokens: 0 };
  const cost = costOf({ media: { ...media, units: { characters: tokens } } });
  return cost === null ? null : cost / (tokens * nanoPerMicro);
}

/** Returns the cost of one image of each quality and size in the table. Null: no price for images. */
function imageRates(costOf: CostOf, table: Readonly<Record<string, Readonly<Record<string, unknown>>>>): ImageRates | null {
  const media = { audioInputTokens: 0, audioOutputTokens: 0, imageInputTokens: 0, imageOutputTokens: 0 };
  const units = { generated_images: 1 };
  const found = Object.entries(table).map(([quality, sizes]) => {
    const priced = Object.keys(sizes).flatMap((size) => {
      const cost = costOf({ media: { ...media, units }, image: { quality, size } });
      return cost === null ? [] : [[size, cost / nanoPerMicro] as const];
    });
    return [quality, Object.fromEntries(priced)] as const;
  });
  const named = found.filter(([, sizes]) => Object.keys(sizes).length > 0);
  return named.length > 0 ? Object.fromEntries(named) : null;
}

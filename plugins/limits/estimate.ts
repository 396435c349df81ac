import type { RequestContext } from '../../core/contract/plugin/context.ts';
import {
  makesImages,
  makesSpeech,
  type PassedRequest,
  repliesWithTokens,
} from '../../core/contract/plugin/requests/passed-traffic.ts';
import { imageParams, sentParams, tierOfCall, tiersAsked } from '../../core/contract/plugin/requests/sent-params.ts';
import type { ModelRates } from '../../core/contract/protocol/limits/leases.ts';
import type { OperationName } from '../../core/contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../core/contract/values/json/json.ts';
import { imageRate } from '../../core/contract/values/models/image-rate.ts';
import { attachmentTokens, isAttachment } from '../../core/contract/values/models/prompt-text.ts';
import { roughImageUsage } from '../../core/contract/values/models/rough-image-usage.ts';
import { spokenUsage } from '../../core/contract/values/models/spoken-usage.ts';
import {
  inputTokensOf,
  statedCount,
  totalTokens,
  type Usage,
  type UsageUnit,
  unitsPerCallMax,
} from '../../core/contract/values/models/usage.ts';
import { type CallRates, imageTools, priceOfDrawing, priceOfDrawn } from './image-tool.ts';

/** Tokens a request may take. */
export interface TokenEstimate {
  readonly input: number;
  /** The maximum output that the request asks for, over all its choices; otherwise the default reservation. */
  readonly output: number;
  /** True if the request states its maximum. All of it must then be available. */
  readonly isStated: boolean;
  /** The model, if the output of the call has no stated maximum and may be long. */
  readonly openModel?: string | null;
}

/** Tokens reserved for the output if the request states no maximum, as far as they are left. */
const outputDefault = 1_024;
/** Characters of text per token. It is low for most languages, so that too many tokens are reserved rather than too few. */
const charactersPerToken = 3;
const depthMax = 32;

/** Members that hold the text of a prompt in the formats of clients and providers. Providers are sent unknown members too. */
const promptKeys: readonly string[] = ['system', 'instructions', 'messages', 'prompt', 'input', 'tools', 'contents'];
const chatMaximum = ['max_completion_tokens', 'max_tokens'];

/** `prompt`: members of the request that a model reads. `maximum`: members that limit what it writes; null: it writes no text. */
interface TokenKeys {
  readonly prompt: readonly string[];
  readonly maximum: readonly string[] | null;
}

const readsOnly: TokenKeys = { prompt: promptKeys, maximum: null };
const writes = (...maximum: string[]): TokenKeys => ({ prompt: promptKeys, maximum });

/**
 * Each operation is listed, so that the compiler asks for those of a new one: without keys, limits of tokens and cost reserve too little until
 * its record is settled.
 */
const tokenKeys: Readonly<Record<OperationName, TokenKeys>> = {
  chatComplete: writes(...chatMaximum),
  complete: { prompt: [...promptKeys, 'suffix'], maximum: ['max_tokens'] },
  embed: readsOnly,
  messages: writes('max_tokens'),
  messagesCountTokens: readsOnly,
  createModelResponse: writes('max_output_tokens'),
  getModelResponse: readsOnly,
  deleteModelResponse: readsOnly,
  listResponseInputItems: readsOnly,
  cancelModelResponse: readsOnly,
  countResponseInputTokens: readsOnly,
  // A model writes the compacted conversation. No member limits its length.
  compactModelResponse: writes(),
  createSpeech: readsOnly,
  createTranscription: readsOnly,
  createTranslation: readsOnly,
  imageGenerate: readsOnly,
  imageEdit: readsOnly,
  imageVariation: readsOnly,
  moderate: readsOnly,
  rerank: { prompt: [...promptKeys, 'query', 'documents'], maximum: null },
  ocr: readsOnly,
  // OpenAI names the text of a decision `input`, others `state`.
  createDecision: { prompt: [...promptKeys, 'state', 'questions'], maximum: null },
  uploadFile: readsOnly,
  listFiles: readsOnly,
  retrieveFile: readsOnly,
  retrieveFileContent: readsOnly,
  deleteFile: readsOnly,
  createBatch: readsOnly,
  listBatches: readsOnly,
  retrieveBatch: readsOnly,
  getBatchOutput: readsOnly,
  cancelBatch: readsOnly,
  createFinetune: readsOnly,
  listFinetunes: readsOnly,
  retrieveFinetune: readsOnly,
  cancelFinetune: readsOnly,
};
/** Keys of requests without an operation. `passed` of the request has the tokens of their input. */
const ofPassed = writes(...chatMaximum, 'max_output_tokens');
const countKeys = ['n', 'best_of', 'prompt'] as const;
const imageKeys = ['n', 'quality', 'size'] as const;

/** Estimates the tokens of a request from its JSON, without reading its text: lengths only. */
export function estimateTokens(ctx: RequestContext): TokenEstimate {
  if (ctx.passed) return passedTokens(ctx, ctx.passed);
  // Message and result of a tool.
  if (ctx.mcp) return { input: Math.ceil(ctx.mcp.messageLength / charactersPerToken), output: outputDefault, isStated: false };
  // The handler has estimated the message.
  if (ctx.agent) return { input: ctx.usage?.inputTokens ?? 0, output: outputDefault, isStated: false };
  const { params } = ctx;
  const { prompt, maximum } = keysOf(ctx);
  let input = 0;
  if (params) for (const key of prompt) input += tokensIn(params[key], key, 0);
  input = Math.ceil(input);
  if (maximum === null) return { input, output: spokenTokens(ctx), isStated: true };
  const stated = maximumOf(ctx);
  if (stated) return { input, output: stated, isStated: true };
  const open = ctx.endpoint?.operation ? { openModel: ctx.model } : undefined;
  return { input, output: outputDefault, isStated: false, ...open };
}

/** Estimates the tokens of a pass-through request from the facts that were read from its bytes. */
function passedTokens(ctx: RequestContext, { inputTokens: input }: PassedRequest): TokenEstimate {
  const path = ctx.endpoint?.proxyPath ?? '';
  if (!repliesWithTokens(path)) return { input, output: spokenTokens(ctx), isStated: true };
  const stated = maximumOf(ctx);
  if (stated) return { input, output: stated, isStated: true };
  return { input, output: outputDefault, isStated: false, openModel: ctx.model };
}

/** Returns the tokens of speech that a text becomes at any target; 0 for models that are not billed by tokens, and for other operations. */
function spokenTokens(ctx: RequestContext): number {
  return Math.max(0, ...spokenUsages(ctx).map(({ outputTokens }) => outputTokens));
}

/** Returns the usage of the speech that each target is asked for. Empty for other operations. */
function spokenUsages(ctx: RequestContext): Usage[] {
  if (!asksToSpeak(ctx)) return [];
  const sent = sentParams(ctx, ctx.plan.targets, ['input', 'model']);
  return sent.flatMap(({ input, model }) =>
    typeof input === 'string' ? [spokenUsage(input, typeof model === 'string' ? model : ctx.model)] : [],
  );
}

function keysOf({ endpoint }: RequestContext): TokenKeys {
  return endpoint?.operation ? tokenKeys[endpoint.operation] : ofPassed;
}

/**
 * Returns the largest output that a target may be asked for: providers differ in which of two members they read, and targets change members.
 * Null if it has no limit.
 */
function maximumOf(ctx: RequestContext): number | null {
  const keys = keysOf(ctx).maximum ?? [];
  const sent = sentParams(ctx, ctx.plan.targets, [...keys, ...countKeys]);
  const each = sent.map((params) => {
    const stated = keys.map((key) => params[key] ?? undefined).filter((value) => value !== undefined);
    const isLimited = stated.length > 0 && stated.every((value) => typeof value === 'number' && value > 0 && value <= 1e9);
    return isLimited ? Math.ceil(Math.max(...(stated as number[]))) * repliesOf(params) : null;
  });
  return each.includes(null) ? null : Math.max(...(each as number[]), 0) || null;
}

/** Returns how many replies are generated: `n` or `best_of` for each of the prompts. */
function repliesOf({ n, best_of, prompt }: JsonObject): number {
  const choices = Math.max(countOf(n), countOf(best_of));
  const isList = Array.isArray(prompt) && (typeof prompt[0] === 'string' || Array.isArray(prompt[0]));
  return choices * (isList ? prompt.length : 1);
}

function countOf(value: unknown): number {
  // Forms have texts.
  const count = statedCount(value);
  return count >= 1 ? Math.min(Math.ceil(count), 128) : 1;
}

function tokensIn(value: unknown, key: string, depth: number, holder: JsonObject | null = null): number {
  if (typeof value === 'string') {
    const tokens = value.length / charactersPerToken;
    return isAttachment(key, value, holder) ? Math.min(tokens, attachmentTokens) : tokens;
  }
  if (typeof value === 'number' || typeof value === 'boolean') return 1;
  if (typeof value !== 'object' || value === null || depth > depthMax) return 0;
  let sum = 0;
  if (Array.isArray(value)) for (const item of value) sum += tokensIn(item, key, depth + 1, holder);
  else for (const name in value) sum += 1 + tokensIn((value as JsonObject)[name], name, depth + 1, value as JsonObject);
  return sum;
}

/** Micro-USD, rounded up, including the requested images and characters of speech, and tools of the provider. */
export function estimatedCost(
  ctx: RequestContext,
  { input, output }: { input: number; output: number },
  rates: CallRates,
): number {
  // A tier may be unavailable, so the higher price is reserved.
  const tiers = rates.tiers ? tiersAsked(ctx, ctx.plan.targets) : [];
  const asked = [rates, ...tiers.flatMap((tier) => ratesOfTier(rates.tiers, tier) ?? [])];
  const dearest = (kind: 'input' | 'output'): number =>
    Math.max(...asked.map((one) => one[kind])) * sizeFactor(rates, input, kind);
  const { imageOutput = 0, audioOutput = 0 } = rates;
  // A model with a price of images may write nothing else.
  const ofOutput = Math.max(dearest('output'), imageOutput, audioOutput > 0 && asksForSpeech(ctx) ? audioOutput : 0);
  const tokens =
    input * dearest('input') +
    output * ofOutput +
    toolsAsked(ctx, rates) +
    priceOfCharacters(ctx, rates) +
    priceOfDrawing(ctx, rates);
  if (!asksForImages(ctx)) return Math.ceil(tokens);
  const each = sentParams(ctx, ctx.plan.targets, imageKeys).map((params) => countOf(params.n) * priceOfImage(params, rates));
  return Math.ceil(tokens + Math.max(0, ...each));
}

/** Returns the price of the characters that are to be spoken. */
function priceOfCharacters(ctx: RequestContext, { characters }: ModelRates): number {
  if (!characters) return 0;
  return characters * Math.max(0, ...spokenUsages(ctx).map(({ units }) => units.characters ?? 0));
}

/** Returns the price of the image that is asked for, or of its tokens. A quality that is not stated may be the highest. */
function priceOfImage(params: JsonObject, { images, output, imageOutput = output }: ModelRates): number {
  if (images) return imageRate(images, params.quality, params.size) ?? 0;
  return roughImageUsage(params).outputTokens * imageOutput;
}

/** Returns the price of a token in a call with this much input, as a factor of the price in a short call. */
function sizeFactor(rates: ModelRates, input: number, kind: 'input' | 'output' | 'cacheRead'): number {
  const size = rates.sizes?.findLast(({ above }) => input > above);
  return size && rates[kind] > 0 ? size[kind] / rates[kind] : 1;
}

/** Returns the price of the calls that tools of the provider may run: as many as a tool states, otherwise one. */
function toolsAsked(ctx: RequestContext, { searches }: ModelRates): number {
  if (!searches) return 0;
  const { file_search: file = 0, code_interpreter: code = 0, maps_prompts: maps = 0, ...ofWeb } = searches;
  const web = Math.max(0, ...Object.values(ofWeb));
  const each = sentParams(ctx, ctx.plan.targets, ['tools', 'web_search_options']).map(({ tools, web_search_options }) => {
    const ofTools = objectsIn(tools).map((tool) => {
      if (tool.type === 'file_search') return file;
      if (tool.type === 'code_interpreter') return code;
      if (isNamed(tool, namedMaps)) return maps;
      return isWebSearch(tool) ? countOf(tool.max_uses) * web : 0;
    });
    return ofTools.reduce((sum, price) => sum + price, isObject(web_search_options) ? web : 0);
  });
  return Math.max(0, ...each);
}

/** True for a search that the provider runs, in the format of OpenAI, Anthropic or Gemini. */
function isWebSearch(tool: JsonObject): boolean {
  return (typeof tool.type === 'string' && tool.type.startsWith('web_search')) || isNamed(tool, namedSearches);
}

/**
 * True for one of these tools of Google. A function with a description or parameters is called by the client, whatever its name is. Clients that can
 * only send functions name Google's tools in one without other members.
 */
function isNamed(tool: JsonObject, tools: ReadonlySet<string>): boolean {
  const { function: called } = tool;
  const isNameOnly = isObject(called) && Object.keys(called).length === 1;
  const names: unknown[] = isNameOnly ? [called.name] : isObject(called) ? [] : Object.keys(tool);
  return names.some((name) => typeof name === 'string' && tools.has(name.replaceAll('_', '').toLowerCase()));
}

/** Names of Google's tools, without underscores and in lower case. */
const namedSearches: ReadonlySet<string> = new Set(['googlesearch', 'googlesearchretrieval', 'enterprisewebsearch']);
const namedMaps: ReadonlySet<string> = new Set(['googlemaps']);

/** Undefined: the tier has no price of its own. Callers and providers choose its name. */
function ratesOfTier(tiers: ModelRates['tiers'], tier: string | null) {
  return tiers && tier !== null && Object.hasOwn(tiers, tier) ? tiers[tier] : undefined;
}

const imageOperations: ReadonlySet<string> = new Set(['imageGenerate', 'imageEdit', 'imageVariation']);

/** True for chat completions whose reply is spoken, and for sessions, whose replies usually are. */
function asksForSpeech(ctx: RequestContext): boolean {
  if (ctx.endpoint?.isRealtime || (ctx.request.webSocketProtocols ?? null) !== null) return true;
  return sentParams(ctx, ctx.plan.targets, ['modalities']).some(
    ({ modalities }) => Array.isArray(modalities) && modalities.includes('audio'),
  );
}

function asksToSpeak({ endpoint }: RequestContext): boolean {
  return endpoint?.operation ? endpoint.operation === 'createSpeech' : makesSpeech(endpoint?.proxyPath ?? '');
}

/** Returns the members of a request that limit its output, as an error names them. */
export function outputMembers(ctx: RequestContext): string {
  if (asksToSpeak(ctx)) return 'input';
  if (asksForImages(ctx)) return 'n, quality or size';
  return imageTools(ctx, ctx.plan.targets).length > 0 ? 'max_tokens, quality or size' : 'max_tokens';
}

function asksForImages({ endpoint }: RequestContext): boolean {
  return endpoint?.operation ? imageOperations.has(endpoint.operation) : makesImages(endpoint?.proxyPath ?? '');
}

/** Returns the units of a limit that a finished request has used, by its own counts. 0 if the price is unknown. */
export function usedUnits(
  unit: 'tokens' | 'cost',
  ctx: RequestContext,
  rates: CallRates | null,
  usage: Usage | null = ctx.usage,
): number {
  if (usage === null) return 0;
  if (unit === 'tokens') return Math.min(totalTokens(usage), unitsPerCallMax);
  if (rates === null) return 0;
  const ofTier = (rates.tiers && ratesOfTier(rates.tiers, tierOfCall(ctx, ctx.targetPath, usage))) ?? rates;
  const inputTokens = inputTokensOf(usage);
  const price = (kind: 'input' | 'output' | 'cacheRead'): number => ofTier[kind] * sizeFactor(rates, inputTokens, kind);
  const input = usage.inputTokens + usage.cacheWriteTokens;
  const tokens = input * price('input') + usage.cacheReadTokens * price('cacheRead') + usage.outputTokens * price('output');
  const found = Object.entries(rates.searches ?? {}).map(([unit, each]) => each * (usage.units[unit as UsageUnit] ?? 0));
  const searches = found.reduce((sum, one) => sum + one, 0);
  const beside = (rates.characters ?? 0) * (usage.units.characters ?? 0) + priceOfDrawn(usage, rates);
  const images = usage.units.generated_images ?? 0;
  const { quality, size } = images > 0 ? imageParams(ctx, ctx.targetPath) : {};
  const perImage = images > 0 && rates.images ? (imageRate(rates.images, quality, size) ?? 0) : 0;
  return Math.min(Math.ceil(tokens + ofMedia(usage, rates) + searches + beside + images * perImage), unitsPerCallMax);
}

/** Returns what tokens of images and audio cost beyond the price of text. It is exact unless audio was read from the cache. */
function ofMedia(
  usage: Usage,
  { input, output, imageOutput = output, audioInput = input, audioOutput = output }: ModelRates,
): number {
  const heard = Math.min(usage.inputTokens, Math.max(0, usage.audioInputTokens - usage.cacheReadTokens));
  // As records are priced: a provider may count more tokens of a kind than output.
  const spoken = Math.min(usage.outputTokens, usage.audioOutputTokens);
  const drawn = Math.min(usage.outputTokens - spoken, usage.imageOutputTokens);
  const written = drawn * (imageOutput - output) + spoken * (audioOutput - output);
  return written + heard * (audioInput - input);
}

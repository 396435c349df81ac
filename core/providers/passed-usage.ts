import { hasCount, type Locations, type PassedFormat, type PassedUsage } from '../contract/provider/passed-usage.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import { serviceTierOf, statedCount, type Usage } from '../contract/values/models/usage.ts';
import { usageOf as messagesUsage } from '../formats/anthropic/usage.ts';
import { interactionsPassed } from '../formats/gemini/interactions-usage.ts';
import { addQueries, newSearches, withSearches } from '../formats/gemini/searches.ts';
import { usageOf as geminiUsage } from '../formats/gemini/usage.ts';
import { mediaUsage, unitUsage } from '../formats/media/media-usage.ts';
import { chatUsage } from '../formats/openai/chat-usage.ts';
import { responsesUsage, usageOfResponse, withToolCalls } from '../formats/openai/responses.ts';
import { eventStream } from './bedrock/event-stream.ts';
import { bedrockPassed } from './bedrock/passed-usage.ts';
import { coherePassed } from './cohere/passed-usage.ts';
import { groqPassed } from './groq/passed-usage.ts';
import { ollamaPassed } from './ollama/passed-usage.ts';

const gemini: PassedFormat = {
  locations: {
    usageMetadata: true,
    'candidates[]': { groundingMetadata: { webSearchQueries: true, 'groundingChunks[]': { maps: { uri: true } } } },
  },
  bare: ['webSearchQueries', 'groundingChunks[].maps.uri'].map((path) => `candidates[].groundingMetadata.${path}`),
  read: (counts) =>
    hasCount(counts, 'promptTokenCount', 'candidatesTokenCount', 'totalTokenCount') ? geminiPassed(withCandidates(counts)) : null,
};

/** Anthropic's Messages and OpenAI's newer endpoints. */
const inputAndOutput: PassedFormat = {
  locations: {
    delta: { usage: true },
    message: { usage: true },
    response: { usage: true, tool_usage: true, 'output[]': { type: true, svg_usage: true } },
    tool_usage: true,
    svg_usage: true,
    'output[]': { type: true, svg_usage: true },
  },
  bare: ['svg_usage', ...['output[].svg_usage', 'output[].type'].flatMap((path) => [path, `response.${path}`])],
  read: (counts) => (hasCount(counts, 'input_tokens', 'output_tokens', 'seconds') ? ofItems(counts) : null),
};

const chat: PassedFormat = {
  locations: { usage: true },
  read: (counts) => (hasCount(counts, 'prompt_tokens', 'completion_tokens', 'total_tokens') ? chatUsage(counts) : null),
};

const pages: PassedFormat = {
  locations: { usage_info: true },
  read: (counts) =>
    hasCount(counts, 'pages_processed') ? unitUsage('pages', statedCount(counts.pages_processed), counts) : null,
};

/** The formats of all providers, distinguished by the names of their counts. The first one that reads them counts. */
const formats: readonly PassedFormat[] = [
  gemini,
  // Before `chat`, which reads `total_tokens` alone as input.
  interactionsPassed,
  coherePassed,
  inputAndOutput,
  chat,
  groqPassed,
  bedrockPassed,
  ollamaPassed,
  pages,
];

/** Reads the usage of all formats. */
export const passedUsage: PassedUsage = {
  locations: Object.assign({}, ...formats.map(({ locations }) => locations)) as Locations,
  bare: new Set(formats.flatMap(({ bare = [] }) => bare)),
  read,
  countsOfResponse: (response) => usageOfResponse(response)?.raw ?? null,
  readHeaders(headers) {
    for (const { readHeaders } of formats) {
      const counts = readHeaders?.(headers);
      if (counts) return counts;
    }
    return null;
  },
  frames: eventStream,
};

function read(counts: JsonObject, serviceTier: unknown): Usage | null {
  const usage = countsOf(counts);
  if (usage === null) return null;
  const tier = isObject(serviceTier) ? serviceTier.type : serviceTier;
  return usage.serviceTier === null ? { ...usage, serviceTier: serviceTierOf(tier) } : usage;
}

function countsOf(counts: JsonObject): Usage | null {
  for (const format of formats) {
    const usage = format.read(counts);
    if (usage?.raw) return { ...usage, raw: withoutTools(usage.raw) };
    if (usage !== null) return usage;
  }
  return null;
}

/** Returns counts without the queries, places and types that replies of other formats may also have. Records do not contain them. */
function withoutTools(raw: JsonObject): JsonObject {
  if (!tallyNames.some((name) => isTally(raw[name]))) return raw;
  return Object.fromEntries(Object.entries(raw).filter(([name, value]) => !(tallyNames.includes(name) && isTally(value))));
}

const tallyNames = ['webSearchQueries', 'uri', 'type'];

function isTally(value: unknown): value is ReadonlyMap<string, number> {
  return value instanceof Map;
}

/** `webSearchQueries` has the queries of all candidates of all events, and `uri` the sources of Google Maps. */
function geminiPassed({ webSearchQueries, uri, ...counts }: JsonObject): Usage {
  const searches = newSearches();
  if (isTally(webSearchQueries)) addQueries(searches, [...webSearchQueries.keys()]);
  searches.hasMaps = isTally(uri);
  return withSearches(geminiUsage(counts), searches);
}

/** `type` has the types of the items of a response. */
function ofItems({ type, ...counts }: JsonObject): Usage {
  const usage = inputOutputUsage(withTools(counts));
  return isTally(type) ? withToolCalls(usage, (name) => type.get(name) ?? 0) : usage;
}

/** The Live API calls them responses: https://ai.google.dev/api/live#usagemetadata */
function withCandidates(counts: JsonObject): JsonObject {
  if (counts.responseTokenCount === undefined || counts.candidatesTokenCount !== undefined) return counts;
  const { responseTokenCount, responseTokensDetails } = counts;
  return { ...counts, candidatesTokenCount: responseTokenCount, candidatesTokensDetails: responseTokensDetails };
}

/** Returns the members of `tool_usage` in an object of their own, as in other usage of responses. */
function withTools(counts: JsonObject): JsonObject {
  const { web_search, image_gen, ...others } = counts;
  return web_search === undefined && image_gen === undefined ? counts : { ...others, tool_usage: { web_search, image_gen } };
}

/** `input_tokens` excludes cached tokens in Anthropic's counts and includes them in OpenAI's, which have details of them. */
function inputOutputUsage(counts: JsonObject): Usage {
  if ('cache_read_input_tokens' in counts || 'cache_creation_input_tokens' in counts) return messagesUsage(counts);
  const media = mediaUsage(counts);
  if (media.units.audio_seconds !== undefined) return media;
  const { audioInputTokens, audioOutputTokens, imageInputTokens, imageOutputTokens } = media;
  return { ...responsesUsage(counts), audioInputTokens, audioOutputTokens, imageInputTokens, imageOutputTokens };
}

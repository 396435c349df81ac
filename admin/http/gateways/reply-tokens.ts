import { isObject, type JsonObject } from '../../../core/contract/values/json/json.ts';

/** Tokens of a reply. Cached tokens are a part of the input, reasoning a part of the output. */
export interface ReplyTokens {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

/** Returns the tokens of a reply in any of the formats of the data plane. Absent counts are 0. */
export function tokensOf(body: unknown): ReplyTokens {
  const usage = object(body, 'usage');
  const input = object(usage, 'prompt_tokens_details', 'input_tokens_details');
  const output = object(usage, 'completion_tokens_details', 'output_tokens_details');
  // Messages replies count cached tokens beside `input_tokens`, all others within it.
  const cacheRead = count(usage, 'cache_read_input_tokens');
  const isMessage = isObject(body) && body.type === 'message';
  const beside = isMessage ? cacheRead + count(usage, 'cache_creation_input_tokens') : 0;
  return {
    inputTokens: Math.min(count(usage, 'prompt_tokens', 'input_tokens') + beside, tokensMax),
    cachedTokens: count(input, 'cached_tokens') || cacheRead,
    outputTokens: count(usage, 'completion_tokens', 'output_tokens'),
    reasoningTokens: count(output, 'reasoning_tokens', 'thinking_tokens'),
  };
}

function object(from: unknown, ...names: string[]): JsonObject {
  return isObject(from) ? (names.map((name) => from[name]).find(isObject) ?? {}) : {};
}

/** The columns are 32-bit integers. */
const tokensMax = 2 ** 31 - 1;

function count(from: JsonObject, ...names: string[]): number {
  for (const name of names) {
    const value = from[name];
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= tokensMax) return value;
  }
  return 0;
}

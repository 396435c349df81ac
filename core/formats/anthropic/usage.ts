import type { StreamReader } from '../../contract/provider/stream-event.ts';
import type { GatewayError } from '../../contract/values/errors/errors.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { laterMembers } from '../../contract/values/json/later-members.ts';
import { emptyUsage, serviceTierOf, type Usage } from '../../contract/values/models/usage.ts';
import { asChatUsage } from '../openai/as-chat-usage.ts';
import { tokenCount } from '../openai/chat-usage.ts';
import { streamError } from './errors.ts';

/** Returns the tokens of a plain Messages reply; null if it carries no `usage`. */
export function usageOfReply(reply: JsonObject): Usage | null {
  return isObject(reply.usage) ? usageOf(reply.usage) : null;
}

/** Types of `iterations` that Anthropic bills beside the totals: summaries of the context, and calls of an advisor model. */
const separateIterations: ReadonlySet<unknown> = new Set(['compaction', 'advisor_message']);

/**
 * Converts the provider's token counts. `input_tokens` excludes both cache counts; `output_tokens` includes reasoning. Iterations
 * that these totals do not include are added.
 */
export function usageOf(counts: JsonObject): Usage {
  const details = isObject(counts.output_tokens_details) ? counts.output_tokens_details : {};
  const separate = objectsIn(counts.iterations).filter(({ type }) => separateIterations.has(type));
  const tokens = (name: string): number =>
    separate.reduce((sum, iteration) => tokenCount(sum + tokenCount(iteration[name])), tokenCount(counts[name]));
  return {
    ...emptyUsage(),
    inputTokens: tokens('input_tokens'),
    cacheReadTokens: tokens('cache_read_input_tokens'),
    cacheWriteTokens: tokens('cache_creation_input_tokens'),
    outputTokens: tokens('output_tokens'),
    reasoningTokens: tokenCount(details.thinking_tokens),
    // Fast mode has prices of its own, like a tier: https://platform.claude.com/docs/en/build-with-claude/fast-mode
    serviceTier: counts.speed === 'fast' ? 'fast' : serviceTierOf(counts.service_tier),
    raw: counts,
  };
}

/**
 * Merges the counts of a stream. Those of `message_delta` are cumulative, so they replace earlier ones. Null values are ignored.
 */
export function laterCounts(counts: JsonObject | null, later: unknown): JsonObject | null {
  if (!isObject(later)) return counts;
  return laterMembers(counts, Object.fromEntries(Object.entries(later).filter(([, value]) => value !== null)));
}

/**
 * Converts usage to the `usage` of a chat completion. Callers without strict compliance also get Anthropic's names of cached
 * tokens.
 */
export function toChatUsage(usage: Usage, strict: boolean): JsonObject {
  const { cacheReadTokens, cacheWriteTokens } = usage;
  const own = { cache_read_input_tokens: cacheReadTokens, cache_creation_input_tokens: cacheWriteTokens };
  return { ...asChatUsage(usage), ...(strict ? {} : own) };
}

const unusedMembers = ['text', 'thinking', 'signature', 'partial_json'];

/** Reads a Messages event stream: counts from `message_start` and `message_delta`, its end from `message_stop`. */
export function messagesStreamReader(provider: string): StreamReader {
  let counts: JsonObject | null = null;
  let complete = false;
  let error: GatewayError | null = null;
  return {
    unused: unusedMembers,
    push({ event, data }) {
      // SDKs throw an event with this name as an error, whatever its data is.
      if (event === 'error') error = streamError(isObject(data) ? data : {}, provider);
      if (!isObject(data)) return;
      if (data.type === 'message_start' && isObject(data.message)) counts = laterCounts(counts, data.message.usage);
      else if (data.type === 'message_delta') counts = laterCounts(counts, data.usage);
      else if (data.type === 'message_stop') complete = true;
      else if (data.type === 'error') error = streamError(data, provider);
    },
    usage: () => (counts === null ? null : usageOf(counts)),
    complete: () => complete,
    error: () => error,
  };
}

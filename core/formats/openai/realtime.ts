import type { ProviderSettings, Realtime } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { emptyUsage, statedCount, type Usage } from '../../contract/values/models/usage.ts';
import { tokenCount } from './chat-usage.ts';
import { usageOfResponse } from './responses.ts';

/**
 * Realtime sessions in OpenAI's format (https://platform.openai.com/docs/guides/realtime-websocket). The client's query is sent
 * unchanged. `root` is the path before `/realtime` below the base URL.
 */
export function realtime(root: (settings: ProviderSettings) => string): Realtime {
  return {
    path: (query, _model, settings) => `${root(settings)}/realtime${query.size === 0 ? '' : `?${query}`}`,
    usage: realtimeUsage,
  };
}

/** Events that end a response: of the realtime API, and of the Responses API over a WebSocket. */
const endsResponse = new Set(['response.done', 'response.completed', 'response.incomplete', 'response.failed']);
const endsTranscription = 'conversation.item.input_audio_transcription.completed';

/**
 * Returns the tokens of one event of a session. Tokens of a transcription of the user's speech are counted too, and separate in
 * `raw`, because another model uses them.
 */
export function realtimeUsage(event: JsonObject): Usage | null {
  const { type, response } = event;
  if (type === endsTranscription && isObject(event.usage))
    return usageOf(event.usage, { input_audio_transcription: event.usage });
  if (typeof type !== 'string' || !endsResponse.has(type) || !isObject(response) || !isObject(response.usage)) return null;
  const ofResponse = usageOfResponse(response);
  return { ...usageOf(response.usage, ofResponse?.raw ?? response.usage), serviceTier: ofResponse?.serviceTier ?? null };
}

function usageOf(counts: JsonObject, raw: JsonObject): Usage {
  const input = detailsOf(counts, 'input');
  const output = detailsOf(counts, 'output');
  const inputTokens = tokenCount(counts.input_tokens);
  const cacheReadTokens = Math.min(inputTokens, tokenCount(input.cached_tokens));
  const cacheWriteTokens = Math.min(inputTokens - cacheReadTokens, tokenCount(input.cache_write_tokens));
  return {
    ...emptyUsage(),
    inputTokens: inputTokens - cacheReadTokens - cacheWriteTokens,
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens: tokenCount(counts.output_tokens),
    reasoningTokens: tokenCount(output.reasoning_tokens),
    audioInputTokens: tokenCount(input.audio_tokens),
    audioOutputTokens: tokenCount(output.audio_tokens),
    imageInputTokens: tokenCount(input.image_tokens),
    // Some transcription models are billed by time.
    ...(statedCount(counts.seconds) > 0 ? { units: { audio_seconds: statedCount(counts.seconds) } } : {}),
    raw,
  };
}

/** The two APIs use different names. */
function detailsOf(counts: JsonObject, side: 'input' | 'output'): JsonObject {
  for (const name of [`${side}_token_details`, `${side}_tokens_details`]) {
    const details = counts[name];
    if (isObject(details)) return details;
  }
  return {};
}

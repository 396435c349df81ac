import type { OperationCall } from '../../../contract/provider/provider.ts';
import type { StreamEvent, StreamTranslator } from '../../../contract/provider/stream-event.ts';
import { isObject, type JsonObject, objectsIn } from '../../../contract/values/json/json.ts';
import { chatChunks } from '../../openai/chat-chunks.ts';
import { streamError } from '../errors.ts';
import { laterCounts, toChatUsage, usageOf } from '../usage.ts';
import { lenientFields, messageFields, refusalOf } from './chat-reply.ts';
import { finishReasonOf } from './finish-reason.ts';
import { toLogprobs } from './logprobs.ts';
import { type PartsReader, partsReader } from './reply-parts.ts';

interface Candidate {
  readonly parts: PartsReader;
  calls: number;
  ended: boolean;
}

/**
 * Translates generateContent events into chat completion chunks, one for each candidate in an event. Gemini's stream has no
 * terminal event, so `[DONE]` and a requested usage chunk are sent at its end, and only if every candidate has ended: a truncated
 * stream must not look complete. An error event is sent in-band and ends the stream.
 */
export function chatStream(call: OperationCall, provider: string): StreamTranslator {
  const { head, withUsage, chunk, choiceOf } = chatChunks(call, provider);
  const candidates = new Map<number, Candidate>();
  let counts: JsonObject | null = null;
  let broken = false;

  const opened = (index: number): { open: Candidate; role: JsonObject } => {
    const known = candidates.get(index);
    if (known) return { open: known, role: {} };
    const open: Candidate = { parts: partsReader(call), calls: 0, ended: false };
    candidates.set(index, open);
    return { open, role: { role: 'assistant', content: '' } };
  };

  const candidateChunk = (candidate: JsonObject): StreamEvent[] => {
    const index = typeof candidate.index === 'number' ? candidate.index : 0;
    const { open, role } = opened(index);
    const message = open.parts.read(candidate);
    const toolCalls = message.toolCalls.map((toolCall) => ({ index: open.calls++, ...toolCall }));
    const delta: JsonObject = {
      ...role,
      ...(message.content === null || message.content === '' ? {} : { content: message.content }),
      ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
      ...messageFields(message),
      ...(call.strict || message.blocks.length === 0 ? {} : { content_blocks: message.blocks }),
    };
    const ends = typeof candidate.finishReason === 'string' && !open.ended;
    if (ends) open.ended = true;
    const reason = ends ? finishReasonOf(candidate.finishReason, open.parts.callsTools(), call.strict) : null;
    const more = call.strict ? {} : lenientFields(candidate);
    const adds = Object.keys(delta).length > 0;
    if (!adds && reason === null && Object.keys(more).length === 0) return [];
    const logprobs = toLogprobs(candidate.logprobsResult);
    const choice = { index, delta, logprobs, finish_reason: reason, ...more };
    if (!adds || reason === null) return [choiceOf(choice)];
    // OpenAI sends the end of a choice in a chunk of its own. Its SDK for Go reports a finished call or text at this chunk.
    return [choiceOf({ index, delta, logprobs, finish_reason: null }), choiceOf({ ...choice, delta: {}, logprobs: null })];
  };

  const refusedChunk = (refusal: string): StreamEvent[] => {
    const { open, role } = opened(0);
    if (open.ended) return [];
    open.ended = true;
    return [
      choiceOf({ index: 0, delta: { ...role, refusal }, logprobs: null, finish_reason: null }),
      choiceOf({ index: 0, delta: {}, logprobs: null, finish_reason: 'content_filter' }),
    ];
  };

  return {
    push({ data }) {
      if (!isObject(data) || broken) return [];
      if (isObject(data.error)) {
        broken = true;
        // Until the first byte is sent, the pipeline can fall back to another target.
        return candidates.size === 0 ? [] : [inBandError(data.error, provider)];
      }
      if (typeof data.responseId === 'string') head.id ??= data.responseId;
      if (typeof data.modelVersion === 'string') head.model = data.modelVersion;
      counts = laterCounts(counts, data.usageMetadata);
      const events = objectsIn(data.candidates).flatMap(oneCallEach).flatMap(candidateChunk);
      const refusal = refusalOf(data.promptFeedback);
      return refusal === null ? events : [...events, ...refusedChunk(refusal)];
    },
    end() {
      const whole = candidates.size > 0 && [...candidates.values()].every((open) => open.ended);
      if (broken || !whole) return [];
      const usage =
        withUsage && counts !== null ? [chunk({ choices: [], usage: toChatUsage(usageOf(counts), call.strict) })] : [];
      return [...usage, { event: null, data: '[DONE]' }];
    },
  };
}

/**
 * Divides a candidate before each function call except the first. OpenAI sends one call per chunk, and clients such as LlamaIndex read only
 * the first call of each. The last part has the other fields of the candidate.
 */
function oneCallEach(candidate: JsonObject): JsonObject[] {
  const { content, ...others } = candidate;
  const parts = isObject(content) ? objectsIn(content.parts) : [];
  const starts = parts.flatMap((part, at) => (isObject(part.functionCall) && part.functionCall.name !== undefined ? [at] : []));
  if (starts.length < 2) return [candidate];
  const ends = [...starts.slice(1), parts.length];
  return ends.map((end, at) => {
    const own = { content: { parts: parts.slice(ends[at - 1] ?? 0, end) } };
    return end === parts.length ? { ...others, ...own } : { index: candidate.index, ...own };
  });
}

function inBandError(data: JsonObject, provider: string): StreamEvent {
  const failure = streamError(provider, data);
  const error = { message: failure.message, type: failure.detail, param: null, code: null };
  return { event: null, data: { error, provider } };
}

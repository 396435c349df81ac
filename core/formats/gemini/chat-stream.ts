import type { OperationCall, StreamEvent, StreamTranslator } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json.ts';
import { chatChunks } from '../openai/chat-chunks.ts';
import { lenientFields, refusalOf, saidFields } from './chat-reply.ts';
import { streamError } from './errors.ts';
import { finishReasonOf } from './finish-reason.ts';
import { toLogprobs } from './logprobs.ts';
import { type PartsReader, partsReader } from './reply-parts.ts';
import { laterCounts, toChatUsage, usageOf } from './usage.ts';

interface Answer {
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
  const answers = new Map<number, Answer>();
  let counts: JsonObject | null = null;
  let broken = false;

  const opened = (index: number): { answer: Answer; role: JsonObject } => {
    const known = answers.get(index);
    if (known) return { answer: known, role: {} };
    const answer: Answer = { parts: partsReader(call), calls: 0, ended: false };
    answers.set(index, answer);
    return { answer, role: { role: 'assistant', content: '' } };
  };

  const candidateChunk = (candidate: JsonObject): StreamEvent[] => {
    const index = typeof candidate.index === 'number' ? candidate.index : 0;
    const { answer, role } = opened(index);
    const said = answer.parts.read(candidate);
    const toolCalls = said.toolCalls.map((toolCall) => ({ index: answer.calls++, ...toolCall }));
    const delta: JsonObject = {
      ...role,
      ...(said.content === null || said.content === '' ? {} : { content: said.content }),
      ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
      ...saidFields(said),
      ...(call.strict || said.blocks.length === 0 ? {} : { content_blocks: said.blocks }),
    };
    const ends = typeof candidate.finishReason === 'string' && !answer.ended;
    if (ends) answer.ended = true;
    const reason = ends ? finishReasonOf(candidate.finishReason, answer.parts.callsTools(), call.strict) : null;
    const more = call.strict ? {} : lenientFields(candidate);
    if (Object.keys(delta).length === 0 && reason === null && Object.keys(more).length === 0) return [];
    return [choiceOf({ index, delta, logprobs: toLogprobs(candidate.logprobsResult), finish_reason: reason, ...more })];
  };

  const refusedChunk = (refusal: string): StreamEvent[] => {
    const { answer, role } = opened(0);
    if (answer.ended) return [];
    answer.ended = true;
    return [choiceOf({ index: 0, delta: { ...role, refusal }, logprobs: null, finish_reason: 'content_filter' })];
  };

  return {
    push({ data }) {
      if (!isObject(data) || broken) return [];
      if (isObject(data.error)) {
        broken = true;
        // Until the first byte is sent, the pipeline can fall back to another target.
        return answers.size === 0 ? [] : [inBandError(data.error, provider)];
      }
      if (typeof data.responseId === 'string') head.id ??= data.responseId;
      if (typeof data.modelVersion === 'string') head.model = data.modelVersion;
      counts = laterCounts(counts, data.usageMetadata);
      const events = (Array.isArray(data.candidates) ? data.candidates.filter(isObject) : []).flatMap(candidateChunk);
      const refusal = refusalOf(data.promptFeedback);
      return refusal === null ? events : [...events, ...refusedChunk(refusal)];
    },
    end() {
      const whole = answers.size > 0 && [...answers.values()].every((answer) => answer.ended);
      if (broken || !whole) return [];
      const usage =
        withUsage && counts !== null ? [chunk({ choices: [], usage: toChatUsage(usageOf(counts), call.strict) })] : [];
      return [...usage, { event: null, data: '[DONE]' }];
    },
  };
}

function inBandError(data: JsonObject, provider: string): StreamEvent {
  const failure = streamError(provider, data);
  const error = { message: failure.message, type: failure.detail, param: null, code: null };
  return { event: null, data: { error, provider } };
}

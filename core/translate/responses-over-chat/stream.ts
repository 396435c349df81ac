import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import type { StreamEvent, StreamTranslator } from '../../contract/provider/stream-event.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { errorIn } from '../../formats/openai/chat-stream-reader.ts';
import { errorObject } from '../../formats/openai/provider-error.ts';
import { withToolIndexes } from '../../formats/openai/tool-indexes.ts';
import { dropFromReply } from '../../formats/reply-notes.ts';
import { ChatMessageReader } from '../chat-message-reader.ts';
import { idInFormat, keepFields, reportChoice } from '../reply-fields.ts';
import { outputItems } from './output-items.ts';
import { type Ending, endingOf, responseObject } from './response-object.ts';
import { responseUsage } from './usage.ts';

/** Number of events with the whole response, which repeats the instructions and tools of the request. */
const responsesMax = 3;

/**
 * Translates chat completion chunks into the events of a Responses stream. The terminal event carries the whole response with its
 * token counts. It is sent at `[DONE]`, or at the end of a stream whose choice had ended, because some servers close without
 * `[DONE]`. A truncated stream gets none. A stream that the provider ended with an error ends in `response.failed`.
 */
export function responseStream(chat: Operation, chatCall: OperationCall, call: OperationCall, seals: boolean): StreamTranslator {
  const inner = chat.translateStream?.(chatCall) ?? null;
  const reader = chat.streamReader();
  const items = outputItems(call, seals);
  const messages = new ChatMessageReader(items, call);
  /** Top-level fields that the response preserves. */
  const passed: JsonObject = {};
  let { id, model, sequence } = { id: '', model: call.model, sequence: 0 };
  const indexed = withToolIndexes();
  let over = false;
  let finishReason: string | null = null;
  let tier: string | null = null;

  const send = (data: JsonObject): StreamEvent => {
    const { type, ...fields } = data;
    return { event: String(type), data: { type, sequence_number: sequence++, ...fields } };
  };
  const response = (ending: Ending, error?: JsonObject): JsonObject => {
    const counts = reader.usage();
    const isFinished = ending.status === 'completed' || ending.status === 'incomplete';
    const usage = isFinished || (ending.status === 'failed' && counts !== null) ? responseUsage(counts) : null;
    const state = { id, model, ending, output: items.output(), usage, ...(error ? { error } : {}) };
    const whole = { ...passed, ...responseObject(state, call) };
    // A copy, because the stream continues to change the object.
    return structuredClone(tier === null ? whole : { ...whole, service_tier: tier });
  };
  const start = (chunk: JsonObject): StreamEvent[] => {
    if (id !== '') return [];
    id = idInFormat('resp_', chunk.id, call);
    if (typeof chunk.model === 'string' && chunk.model !== '') model = chunk.model;
    const opening = response({ status: 'in_progress', reason: null });
    return [send({ type: 'response.created', response: opening }), send({ type: 'response.in_progress', response: opening })];
  };
  const finish = (): StreamEvent[] => {
    if (over) return [];
    over = true;
    const opening = start({});
    const ending = endingOf(finishReason);
    const closing = [...messages.finish(), ...items.finish(ending.status === 'incomplete')].map(send);
    return [...opening, ...closing, send({ type: `response.${ending.status}`, response: response(ending) })];
  };
  const fail = (error: unknown): StreamEvent[] => {
    over = true;
    // Until the first byte is sent, the pipeline can fall back to another target.
    if (id === '') return [];
    const ending = { status: 'failed', reason: null } as const;
    return [send({ type: 'response.failed', response: response(ending, errorOf(error, reader.error?.()?.status)) })];
  };

  const onChunk = (event: StreamEvent): StreamEvent[] => {
    if (over) return [];
    const { data } = event;
    const error = errorIn(event);
    if (error !== null) return fail(error);
    if (typeof data === 'string') return data.trim() === '[DONE]' ? finish() : [];
    keepFields(passed, data);
    const { choices } = indexed(data);
    const choice = Array.isArray(choices) ? choices[0] : undefined;
    if (typeof data.service_tier === 'string') tier = data.service_tier;
    if (!isObject(choice)) return [];
    if (choice.index !== undefined && choice.index !== 0) {
      dropFromReply(call, 'choices');
      return [];
    }
    if (typeof choice.finish_reason === 'string') finishReason = choice.finish_reason;
    reportChoice(choice, call);
    const opening = start(data);
    return [...opening, ...(isObject(choice.delta) ? messages.add(choice.delta, choice.logprobs).map(send) : [])];
  };

  return {
    push(event) {
      reader.push(event);
      return (inner === null ? [event] : inner.push(event)).flatMap(onChunk);
    },
    end() {
      const last = (inner?.end() ?? []).flatMap(onChunk);
      return finishReason === null ? last : [...last, ...finish()];
    },
    repeatedOfRequest: () => responsesMax * JSON.stringify(response({ status: 'in_progress', reason: null })).length,
  };
}

/** Returns `rate_limit_exceeded`, the code that asks callers to wait, or `server_error` for all other errors. */
function errorOf(error: unknown, status: number | undefined): JsonObject {
  const { message, type, code } = errorObject(error);
  const limited = status === 429 || [type, code].some((word) => /rate_?limit|throttl|429/i.test(String(word)));
  return { code: limited ? 'rate_limit_exceeded' : 'server_error', message };
}

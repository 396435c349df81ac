import type { OperationCall } from '../../contract/provider/provider.ts';
import type { StreamEvent, StreamTranslator } from '../../contract/provider/stream-event.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { laterMembers } from '../../contract/values/json/later-members.ts';
import { chatChunks } from '../openai/chat-chunks.ts';
import { StreamedToolCalls } from '../openai/streamed-tool-calls.ts';
import { refusalOf, reportBlock, stopSequence, withoutNulls } from './chat-reply.ts';
import { annotationsOf } from './citations.ts';
import { streamError } from './errors.ts';
import { finishReasonOf } from './finish-reason.ts';
import { laterCounts, toChatUsage, usageOf } from './usage.ts';

/** Fields of `message_start` and `message_delta` whose content chunks carry in another form. */
const readFields: ReadonlySet<string> = new Set([
  ...['id', 'type', 'role', 'content', 'model', 'stop_reason', 'stop_sequence', 'usage', 'delta'],
]);

/**
 * Translates Messages events into chat completion chunks. A usage chunk is sent only if the client asked for it. `[DONE]` is sent
 * only after `message_stop`, so that a truncated stream does not look complete. An error event is sent in-band and ends the
 * stream. Content in `message_start` is sent at once: a reply that continues after the provider ran a tool arrives that way.
 */
export function chatStream(call: OperationCall, provider: string): StreamTranslator {
  const { head, withUsage, chunk, emit } = chatChunks(call, provider);
  const tools = new StreamedToolCalls();
  let counts: JsonObject | null = null;
  let started = false;
  /** Characters of text so far, and their number at the start of the open block. */
  let [spoken, from] = [0, 0];
  /** Citations of the open block. The end of their text is known when the block stops. */
  let cited: JsonObject[] = [];
  /** Top-level fields that a plain reply preserves. The last chunk of the choice carries them. */
  let others: JsonObject = {};

  /** The provider's own delta beside the OpenAI one, for clients without strict compliance. */
  const native = (index: unknown, piece: JsonObject): JsonObject =>
    call.strict ? {} : { content_blocks: [{ index, delta: piece }] };

  const start = (message: JsonObject): StreamEvent[] => {
    if (typeof message.id === 'string') head.id = message.id;
    if (typeof message.model === 'string') head.model = message.model;
    counts = laterCounts(counts, message.usage);
    const opening = started ? [] : emit({ role: 'assistant', content: '' });
    started = true;
    const events = objectsIn(message.content).flatMap((block, index) => [...blockStart(index, block), ...blockStop(index)]);
    return [...opening, ...events, ...messageEnd(message, null)];
  };

  const blockStart = (index: unknown, block: JsonObject): StreamEvent[] => {
    from = spoken;
    cited = objectsIn(block.citations);
    if (block.type === 'text') {
      if (typeof block.text !== 'string' || block.text === '') return emit(native(index, block));
      spoken += block.text.length;
      return emit({ content: block.text, ...native(index, block) });
    }
    if (block.type === 'thinking') {
      const reasoningPart = block.thinking ? { reasoning_content: block.thinking } : {};
      return emit({ ...reasoningPart, ...native(index, block) });
    }
    if (block.type !== 'tool_use') {
      reportBlock(block.type, call);
      return emit(native(index, block));
    }
    const first = tools.open(index, block.id, block.name, block.input);
    return emit({ tool_calls: [first], ...native(index, block) });
  };

  const blockDelta = (index: unknown, delta: JsonObject): StreamEvent[] => {
    const { type, ...piece } = delta;
    if (type === 'text_delta') {
      spoken += String(delta.text ?? '').length;
      return emit({ content: delta.text, ...native(index, piece) });
    }
    if (type === 'thinking_delta') return emit({ reasoning_content: delta.thinking, ...native(index, piece) });
    if (type === 'citations_delta' && isObject(delta.citation)) cited.push(delta.citation);
    if (type !== 'input_json_delta' || !tools.has(index) || typeof delta.partial_json !== 'string')
      return emit(native(index, piece));
    if (delta.partial_json === '') return [];
    return emit({ tool_calls: [tools.append(index, delta.partial_json)], ...native(index, piece) });
  };

  const blockStop = (index: unknown): StreamEvent[] => {
    const annotations = cited.length === 0 ? [] : annotationsOf(cited, from, spoken, call);
    cited = [];
    const last = tools.end(index);
    if (last !== null) return emit({ tool_calls: [last] });
    return annotations.length > 0 ? emit({ annotations }) : [];
  };

  /** `given` holds the stop reason if it is known, `data` the other fields of the event. */
  const messageEnd = (given: JsonObject, data: JsonObject | null): StreamEvent[] => {
    if (data !== null) counts = laterCounts(counts, data.usage);
    others = laterMembers(others, { ...unread(given), ...unread(data ?? {}) });
    if (typeof given.stop_reason !== 'string') return [];
    const refusal = refusalOf(given);
    const delta = refusal === null ? {} : { refusal };
    const reason = finishReasonOf(given.stop_reason, call.strict);
    const ending = { index: 0, delta, logprobs: null, finish_reason: reason, ...stopSequence(given.stop_sequence, call) };
    return [chunk({ choices: [ending], ...(withUsage ? { usage: null } : {}), ...withoutNulls(others) })];
  };

  const stop = (): StreamEvent[] => {
    const usage = withUsage && counts !== null ? [chunk({ choices: [], usage: toChatUsage(usageOf(counts), call.strict) })] : [];
    return [...usage, { event: null, data: '[DONE]' }];
  };

  return {
    push({ data }) {
      if (!isObject(data)) return [];
      switch (data.type) {
        case 'message_start':
          return isObject(data.message) ? start(data.message) : [];
        case 'content_block_start':
          return isObject(data.content_block) ? blockStart(data.index, data.content_block) : [];
        case 'content_block_delta':
          return isObject(data.delta) ? blockDelta(data.index, data.delta) : [];
        case 'content_block_stop':
          return blockStop(data.index);
        case 'message_delta':
          return isObject(data.delta) ? messageEnd(data.delta, data) : [];
        case 'message_stop':
          return stop();
        case 'error':
          // Until the first byte is sent, the pipeline can fall back to another target.
          return head.id === null ? [] : [inBandError(data, provider)];
        default:
          return [];
      }
    },
    end: () => [],
  };
}

function unread(from: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(from).filter(([name]) => !readFields.has(name)));
}

function inBandError(data: JsonObject, provider: string): StreamEvent {
  const failure = streamError(data, provider);
  const error = { message: failure.message, type: failure.detail, param: null, code: null };
  return { event: null, data: { error, provider } };
}

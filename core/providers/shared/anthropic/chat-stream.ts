import { isObject, type JsonObject } from '../../../contract/json.ts';
import type { OperationCall, StreamEvent, StreamTranslator } from '../../../contract/provider.ts';
import { chatChunks } from '../chat-chunks.ts';
import { refusalOf } from './chat-reply.ts';
import { streamFault } from './errors.ts';
import { finishReasonOf } from './finish-reason.ts';
import { laterCounts, toChatUsage, usageOf } from './usage.ts';

interface ToolBlock {
  /** Place among the tool calls of the reply. */
  readonly place: number;
  readonly input: unknown;
  hasArguments: boolean;
}

/**
 * Messages events as chat completion chunks. A usage chunk comes only when the client asked for it, `[DONE]` only after
 * `message_stop`: a stream the provider cut must not look whole. An error event goes out in-band and ends the stream.
 */
export function chatStream(call: OperationCall, provider: string): StreamTranslator {
  const { head, withUsage, chunk, choice, emit } = chatChunks(call, provider);
  const tools = new Map<unknown, ToolBlock>();
  let counts: JsonObject | null = null;

  /** The provider's own piece beside the OpenAI one, for clients that are not strict. */
  const native = (index: unknown, piece: JsonObject): JsonObject =>
    call.strict ? {} : { content_blocks: [{ index, delta: piece }] };

  const start = (message: JsonObject): StreamEvent[] => {
    if (typeof message.id === 'string') head.id = message.id;
    if (typeof message.model === 'string') head.model = message.model;
    counts = laterCounts(counts, message.usage);
    return [choice({ role: 'assistant', content: '' })];
  };

  const blockStart = (index: unknown, block: JsonObject): StreamEvent[] => {
    if (block.type === 'text' && block.text) return emit({ content: block.text, ...native(index, block) });
    if (block.type !== 'tool_use') return emit(native(index, block));
    const tool: ToolBlock = { place: tools.size, input: block.input, hasArguments: false };
    tools.set(index, tool);
    const first = { index: tool.place, id: block.id, type: 'function', function: { name: block.name, arguments: '' } };
    return emit({ tool_calls: [first], ...native(index, block) });
  };

  const blockDelta = (index: unknown, delta: JsonObject): StreamEvent[] => {
    const { type, ...piece } = delta;
    if (type === 'text_delta') return emit({ content: delta.text, ...native(index, piece) });
    const tool = tools.get(index);
    if (type !== 'input_json_delta' || !tool || typeof delta.partial_json !== 'string') return emit(native(index, piece));
    if (delta.partial_json === '') return [];
    tool.hasArguments = true;
    return emit({ tool_calls: [argumentsDelta(tool, delta.partial_json)], ...native(index, piece) });
  };

  /** A call without arguments streams none, where a plain reply has `{}`; both must read the same. */
  const blockStop = (index: unknown): StreamEvent[] => {
    const tool = tools.get(index);
    return tool && !tool.hasArguments ? emit({ tool_calls: [argumentsDelta(tool, JSON.stringify(tool.input ?? {}))] }) : [];
  };

  const messageDelta = (delta: JsonObject, usage: unknown): StreamEvent[] => {
    counts = laterCounts(counts, usage);
    if (typeof delta.stop_reason !== 'string') return [];
    const refusal = refusalOf(delta);
    return [choice(refusal === null ? {} : { refusal }, finishReasonOf(delta.stop_reason, call.strict))];
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
          return isObject(data.delta) ? messageDelta(data.delta, data.usage) : [];
        case 'message_stop':
          return stop();
        case 'error':
          // Before the first byte another target can still answer, so nothing may be sent then.
          return head.id === null ? [] : [inBandError(data, provider)];
        default:
          return [];
      }
    },
    end: () => [],
  };
}

function argumentsDelta(tool: ToolBlock, text: string): JsonObject {
  return { index: tool.place, function: { arguments: text } };
}

function inBandError(data: JsonObject, provider: string): StreamEvent {
  const fault = streamFault(data, provider);
  const error = { message: fault.message, type: fault.detail, param: null, code: null };
  return { event: null, data: { error, provider } };
}

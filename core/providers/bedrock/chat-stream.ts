import { isObject, type JsonObject } from '../../contract/json.ts';
import type { OperationCall, StreamEvent, StreamTranslator } from '../../contract/provider.ts';
import { chatChunks } from '../shared/chat-chunks.ts';
import { eventFault } from './errors.ts';
import { finishReasonOf } from './finish-reason.ts';
import { toChatUsage, usageOfReply } from './usage.ts';

interface ToolBlock {
  /** Place among the tool calls of the reply. */
  readonly place: number;
  hasArguments: boolean;
}

/**
 * Converse events as chat completion chunks. A usage chunk comes only when the client asked for it; `[DONE]` at the end, and
 * only after `messageStop`: a stream the provider cut must not look whole. An exception goes out in-band and ends the stream.
 */
export function chatStream(call: OperationCall): StreamTranslator {
  const { head, withUsage, chunk, choice, emit } = chatChunks(call, 'bedrock');
  const tools = new Map<unknown, ToolBlock>();
  /** Blocks of which a piece has gone out; Converse opens only tool blocks by an event of their own. */
  const opened = new Set<unknown>();
  let stopped = false;

  /** The block beside the OpenAI field, for clients that are not strict: as it opens, then the texts to append to it. */
  const piece = (index: unknown, type: string, texts: JsonObject): JsonObject => {
    if (call.strict) return {};
    const first = !opened.has(index);
    opened.add(index);
    return { content_blocks: [{ index, delta: first ? { type, ...texts } : texts }] };
  };

  const blockStart = (index: unknown, start: JsonObject): StreamEvent[] => {
    const use = start.toolUse;
    if (!isObject(use)) return [];
    const tool: ToolBlock = { place: tools.size, hasArguments: false };
    tools.set(index, tool);
    const first = { index: tool.place, id: use.toolUseId, type: 'function', function: { name: use.name, arguments: '' } };
    return emit({ tool_calls: [first], ...piece(index, 'tool_use', { id: use.toolUseId, name: use.name, input: {} }) });
  };

  const blockDelta = (index: unknown, delta: JsonObject): StreamEvent[] => {
    if (typeof delta.text === 'string') return emit({ content: delta.text, ...piece(index, 'text', { text: delta.text }) });
    const tool = tools.get(index);
    if (tool && isObject(delta.toolUse) && typeof delta.toolUse.input === 'string' && delta.toolUse.input !== '') {
      const { input } = delta.toolUse;
      tool.hasArguments = true;
      return emit({ tool_calls: [argumentsDelta(tool, input)], ...piece(index, 'tool_use', { partial_json: input }) });
    }
    return isObject(delta.reasoningContent) ? emit(thought(index, delta.reasoningContent)) : [];
  };

  const thought = (index: unknown, { text, signature, redactedContent }: JsonObject): JsonObject => {
    if (redactedContent !== undefined) return piece(index, 'redacted_thinking', { data: redactedContent });
    if (typeof text === 'string') return piece(index, 'thinking', { thinking: text });
    return typeof signature === 'string' ? piece(index, 'thinking', { signature }) : {};
  };

  /** A call without arguments streams none, where a plain reply has `{}`; both must read the same. */
  const blockStop = (index: unknown): StreamEvent[] => {
    const tool = tools.get(index);
    return tool && !tool.hasArguments ? emit({ tool_calls: [argumentsDelta(tool, '{}')] }) : [];
  };

  const metadata = (data: JsonObject): StreamEvent[] => {
    const usage = withUsage ? usageOfReply(data) : null;
    return usage === null ? [] : [chunk({ choices: [], usage: toChatUsage(usage, call.strict) })];
  };

  return {
    push(item) {
      const { event, data } = item;
      if (!isObject(data)) return [];
      switch (event) {
        case 'messageStart':
          return [choice({ role: 'assistant', content: '' })];
        case 'contentBlockStart':
          return isObject(data.start) ? blockStart(data.contentBlockIndex, data.start) : [];
        case 'contentBlockDelta':
          return isObject(data.delta) ? blockDelta(data.contentBlockIndex, data.delta) : [];
        case 'contentBlockStop':
          return blockStop(data.contentBlockIndex);
        case 'messageStop':
          stopped = true;
          return [choice({}, finishReasonOf(data.stopReason, call.strict))];
        case 'metadata':
          return metadata(data);
        default: {
          const fault = eventFault(item);
          if (fault === null) return [];
          stopped = false;
          // Before the first byte another target can still answer, so nothing may be sent then.
          const error = { message: fault.message, type: fault.detail, param: null, code: null };
          return head.id === null ? [] : [{ event: null, data: { error, provider: 'bedrock' } }];
        }
      }
    },
    end: () => (stopped ? [{ event: null, data: '[DONE]' }] : []),
  };
}

function argumentsDelta(tool: ToolBlock, text: string): JsonObject {
  return { index: tool.place, function: { arguments: text } };
}

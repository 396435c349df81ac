import type { OperationCall } from '../../contract/provider/provider.ts';
import type { StreamEvent, StreamTranslator } from '../../contract/provider/stream-event.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { chatChunks } from '../../formats/openai/chat-chunks.ts';
import { reportPart } from './chat-reply.ts';
import { annotationsOf, type TextStarts } from './citations.ts';
import { finishReasonOf } from './finish-reason.ts';
import { toLogprobs } from './logprobs.ts';
import { endError } from './stream-reader.ts';
import { toChatUsage, usageOfReply } from './usage.ts';

/**
 * Translates Chat API events to chat completion chunks. A usage chunk is sent only if the client requested it, `[DONE]` only
 * after a `message-end` without error. A `message-end` with an error is sent in-band and ends the stream.
 */
export function chatStream(call: OperationCall): StreamTranslator {
  const { head, withUsage, chunk, choice, emit } = chatChunks(call, 'cohere');
  /** Indexes of tool calls, by the provider's index, and whether arguments have arrived for them. */
  const tools = new Map<unknown, { readonly position: number; hasArguments: boolean }>();
  const opened = new Set<unknown>();
  /** Number of characters of text so far, and at the start of each part of the content. */
  let spoken = 0;
  const starts = new Map<unknown, number>();
  const startOf: TextStarts = (index) => starts.get(index) ?? starts.values().next().value ?? spoken;

  /** A piece of content and its block, for clients without strict compliance. */
  const content = (index: unknown, delta: JsonObject, logprobs: unknown): StreamEvent[] => {
    const { type: stated, text, thinking } = delta;
    if (stated !== undefined && stated !== 'text' && stated !== 'thinking') {
      reportPart(stated, call);
      opened.add(index);
      return call.strict ? [] : emit({ content_blocks: [{ index, delta: delta }] });
    }
    const [type, piece] = typeof thinking === 'string' ? (['thinking', thinking] as const) : (['text', text] as const);
    if (typeof piece !== 'string' || piece === '') return [];
    if (type === 'text') {
      if (!starts.has(index)) starts.set(index, spoken);
      spoken += piece.length;
    }
    const block = opened.has(index) ? { [type]: piece } : { type, [type]: piece };
    opened.add(index);
    const beside = call.strict ? {} : { content_blocks: [{ index, delta: block }] };
    const piecewise = { [type === 'text' ? 'content' : 'reasoning_content']: piece, ...beside };
    return emit(piecewise, toLogprobs([logprobs]));
  };

  const plan = (text: string): StreamEvent[] => {
    spoken += text.length;
    return emit({ content: text });
  };

  const citations = (given: unknown): StreamEvent[] => {
    const listed = objectsIn([given].flat());
    const annotations = listed.flatMap((citation) => annotationsOf(citation, startOf, call));
    const beside = call.strict || listed.length === 0 ? {} : { citations: listed };
    return emit({ ...(annotations.length > 0 ? { annotations } : {}), ...beside });
  };

  const toolCall = (index: unknown, started: boolean, toolCalls: unknown): StreamEvent[] => {
    if (!isObject(toolCalls)) return [];
    const fn = isObject(toolCalls.function) ? toolCalls.function : {};
    const text = typeof fn.arguments === 'string' ? fn.arguments : '';
    const tool = tools.get(index) ?? { position: tools.size, hasArguments: false };
    tools.set(index, tool);
    if (text !== '') tool.hasArguments = true;
    else if (!started) return [];
    const head = started ? { id: toolCalls.id, type: 'function' } : {};
    const name = started ? { name: fn.name } : {};
    return emit({ tool_calls: [{ index: tool.position, ...head, function: { ...name, arguments: text } }] });
  };

  /** A call without arguments streams none, but a plain reply has `{}`. Clients receive `{}` in both cases. */
  const toolEnd = (index: unknown): StreamEvent[] => {
    const tool = tools.get(index);
    return tool && !tool.hasArguments ? emit({ tool_calls: [{ index: tool.position, function: { arguments: '{}' } }] }) : [];
  };

  const end = (delta: JsonObject): StreamEvent[] => {
    const failure = endError(delta);
    if (failure) {
      // Until the first byte is sent, the pipeline can fall back to another target.
      const error = { message: failure.message, type: failure.detail, param: null, code: null };
      return head.id === null ? [] : [{ event: null, data: { error, provider: 'cohere' } }];
    }
    const usage = withUsage ? usageOfReply(delta) : null;
    const counts = usage === null ? [] : [chunk({ choices: [], usage: toChatUsage(usage) })];
    return [choice({}, finishReasonOf(delta.finish_reason, call.strict)), ...counts, { event: null, data: '[DONE]' }];
  };

  return {
    push({ data }) {
      if (!isObject(data)) return [];
      const delta = isObject(data.delta) ? data.delta : {};
      const message = isObject(delta.message) ? delta.message : {};
      switch (data.type) {
        case 'message-start':
          if (typeof data.id === 'string') head.id = data.id;
          return [choice({ role: 'assistant', content: '' })];
        case 'content-start':
        case 'content-delta':
          return isObject(message.content) ? content(data.index, message.content, data.logprobs) : [];
        case 'tool-plan-delta':
          return typeof message.tool_plan === 'string' ? plan(message.tool_plan) : [];
        case 'tool-call-start':
        case 'tool-call-delta':
          return toolCall(data.index, data.type === 'tool-call-start', message.tool_calls);
        case 'tool-call-end':
          return toolEnd(data.index);
        case 'citation-start':
          return citations(message.citations);
        case 'message-end':
          return end(delta);
        default:
          return [];
      }
    },
    end: () => [],
  };
}

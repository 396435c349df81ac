import type { OperationCall } from '../../contract/provider/provider.ts';
import type { StreamEvent, StreamReader, StreamTranslator } from '../../contract/provider/stream-event.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { NativeBlocks } from '../../formats/native-blocks.ts';
import { asChatUsage } from '../../formats/openai/as-chat-usage.ts';
import { asksForUsage } from '../../formats/openai/chat-request.ts';
import { errorObject } from '../../formats/openai/provider-error.ts';
import { responsesErrorIn } from '../../formats/openai/responses.ts';
import {
  createdOf,
  finishReasonOf,
  imageOf,
  isReadItem,
  otherFields,
  reportItem,
  toChatAnnotations,
  toolCallOf,
} from './reply.ts';
import { betweenSummaries, signatureOf } from './signed-reasoning.ts';

interface Tool {
  /** Index among the tool calls of the reply. */
  readonly position: number;
  readonly type: 'function' | 'custom';
  hasText: boolean;
}

/**
 * Translates the events of a Responses stream to chat completion chunks. Nothing is sent before the first content, so that until
 * then another target can reply. A usage chunk is sent only if the caller requested it, `[DONE]` only after the terminal event.
 */
export function chatStream(reader: StreamReader, call: OperationCall): StreamTranslator {
  const withUsage = asksForUsage(call.params);
  const tools = new Map<unknown, Tool>();
  const blocks = new NativeBlocks(call.strict);
  let { id, model, created } = { id: '', model: call.model, created: call.nowSeconds };
  let started = false;
  /** Number of characters of text so far, and before the open part. */
  let [spoken, from] = [0, 0];
  /** The latest part of the reasoning, as `<output index> <part>`. */
  let thinking: string | null = null;

  const chunk = (fields: JsonObject): StreamEvent => {
    if (id === '') id = call.newId('chatcmpl-');
    return { event: null, data: { id, object: 'chat.completion.chunk', created, model, ...fields } };
  };
  const choice = (delta: JsonObject, finishReason: string | null = null, logprobs: unknown = null): StreamEvent =>
    chunk({
      choices: [{ index: 0, delta, logprobs, finish_reason: finishReason }],
      ...(withUsage ? { usage: null } : {}),
    });
  const begin = (): StreamEvent[] => {
    if (started) return [];
    started = true;
    return [choice({ role: 'assistant', content: '' })];
  };
  const say = (delta: JsonObject, logprobs: unknown = null): StreamEvent[] => {
    if (Object.keys(delta).length === 0) return [];
    return [...begin(), choice(delta, null, logprobs)];
  };

  const head = (response: JsonObject): void => {
    if (typeof response.id === 'string') id = response.id;
    if (typeof response.model === 'string') model = response.model;
    created = createdOf(response, call);
  };
  const text = ({ output_index: index, delta, logprobs }: JsonObject): StreamEvent[] => {
    const tokens = Array.isArray(logprobs) && logprobs.length > 0 ? { content: logprobs, refusal: null } : null;
    spoken += String(delta ?? '').length;
    return say({ content: delta, ...blocks.piece(index, 'text', { text: delta }) }, tokens);
  };
  /** Separates the parts of one reasoning item in its block, and all reasoning items in `reasoning_content`. */
  const reasoningPart = (index: unknown, part: string, delta: unknown): StreamEvent[] => {
    const key = `${String(index)} ${part}`;
    const parted = thinking === null || thinking === key ? '' : betweenSummaries;
    thinking = key;
    const inBlock = blocks.has(index) ? parted : '';
    const text = String(delta ?? '');
    return say({ reasoning_content: parted + text, ...blocks.piece(index, 'thinking', { thinking: inBlock + text }) });
  };
  const argumentsOf = (tool: Tool, sent: unknown): JsonObject => {
    tool.hasText = true;
    const piece = tool.type === 'function' ? { function: { arguments: sent } } : { custom: { input: sent } };
    return { tool_calls: [{ index: tool.position, ...piece }] };
  };
  const annotation = (given: JsonObject): StreamEvent[] => {
    const annotations = toChatAnnotations(given, from, call);
    return annotations.length > 0 ? say({ annotations }) : [];
  };
  const itemAdded = (index: unknown, item: JsonObject): StreamEvent[] => {
    if (item.type === 'message') return begin();
    const [entry] = toolCallOf({ ...item, arguments: '', input: '' });
    if (entry === undefined) return [];
    const tool: Tool = { position: tools.size, type: entry.type === 'custom' ? 'custom' : 'function', hasText: false };
    tools.set(index, tool);
    const block = { id: entry.id, name: item.name, input: {} };
    return say({ tool_calls: [{ index: tool.position, ...entry }], ...blocks.piece(index, 'tool_use', block) });
  };
  const itemDone = (index: unknown, item: JsonObject): StreamEvent[] => {
    reportItem(item, call);
    if (!isReadItem(item)) return say(call.strict ? {} : { content_blocks: [{ index, delta: item }] });
    const images = imageOf(item);
    if (images.length > 0) return say({ images });
    if (item.type === 'reasoning') {
      const signature = signatureOf(item);
      if (signature === '') return [];
      return say(blocks.piece(index, 'redacted_thinking', blocks.has(index) ? { signature } : { data: signature }));
    }
    const tool = tools.get(index);
    const sent = item.arguments ?? item.input;
    return tool && !tool.hasText && typeof sent === 'string' && sent !== '' ? say(argumentsOf(tool, sent)) : [];
  };
  const end = (response: JsonObject): StreamEvent[] => {
    head(response);
    const opening = begin();
    const usage = withUsage ? reader.usage() : null;
    const counted = usage === null ? [] : [chunk({ choices: [], usage: asChatUsage(usage) })];
    const ending = { index: 0, delta: {}, logprobs: null, finish_reason: finishReasonOf(response, tools.size > 0) };
    const last = chunk({ choices: [ending], ...(withUsage ? { usage: null } : {}), ...otherFields(response) });
    return [...opening, last, ...counted, { event: null, data: '[DONE]' }];
  };
  const fail = (error: unknown): StreamEvent[] => {
    if (!started) return [];
    const { message, code } = errorObject(error);
    return [{ event: null, data: { error: { message, type: 'server_error', param: null, code } } }];
  };

  const onEvent = (data: JsonObject): StreamEvent[] => {
    const { output_index: index, item, response, delta } = data;
    switch (data.type) {
      case 'response.created':
        if (isObject(response)) head(response);
        return [];
      case 'response.output_item.added':
        return isObject(item) ? itemAdded(index, item) : [];
      case 'response.output_item.done':
        return isObject(item) ? itemDone(index, item) : [];
      case 'response.output_text.delta':
        return text(data);
      case 'response.output_text.annotation.added':
        return isObject(data.annotation) ? annotation(data.annotation) : [];
      case 'response.refusal.delta':
        return say({ refusal: delta });
      case 'response.reasoning_summary_part.added':
        if (thinking !== null) thinking = '';
        return [];
      case 'response.reasoning_summary_text.delta':
        return reasoningPart(index, `summary ${String(data.summary_index)}`, delta);
      case 'response.reasoning_text.delta':
        return reasoningPart(index, `text ${String(data.content_index)}`, delta);
      case 'response.content_part.added':
        from = spoken;
        return [];
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta': {
        const tool = tools.get(index);
        return tool ? say(argumentsOf(tool, delta)) : [];
      }
      case 'response.completed':
      case 'response.incomplete':
        return end(isObject(response) ? response : {});
      case 'response.failed':
        return fail(isObject(response) ? response.error : null);
      default:
        return [];
    }
  };

  return {
    push(event) {
      reader.push(event);
      const error = responsesErrorIn(event);
      if (error !== null) return fail(error);
      return isObject(event.data) ? onEvent(event.data) : [];
    },
    end: () => [],
  };
}

import type { OperationCall } from '../../../contract/provider/provider.ts';
import type { StreamEvent, StreamTranslator } from '../../../contract/provider/stream-event.ts';
import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';
import { annotationsOf } from '../../../formats/anthropic/citations.ts';
import { NativeBlocks } from '../../../formats/native-blocks.ts';
import { chatChunks } from '../../../formats/openai/chat-chunks.ts';
import { StreamedToolCalls } from '../../../formats/openai/streamed-tool-calls.ts';
import { dropFromReply, dropUnread } from '../../../formats/reply-notes.ts';
import { kindOf } from '../../../formats/sealed-blocks.ts';
import { toolInput } from '../../../translate/tool-input.ts';
import { eventError } from '../errors.ts';
import { toChatUsage, usageOfReply } from '../usage.ts';
import { imageOf, isServerTool, nativeBlock, serverToolBlock, stopSequence } from './chat-reply.ts';
import { sharedCitations } from './citations.ts';
import { finishReasonOf } from './finish-reason.ts';

/** Content of a block that is sent when the block stops. */
interface Held {
  /** Sealed reasoning, which may arrive in several pieces of base64. */
  readonly redacted: Buffer[];
  /** Citations of its text, in the shared form, and the start of that text. */
  readonly citations: JsonObject[];
  from: number;
  /** The block itself, for kinds without a delta in chat completions. */
  native: JsonObject | null;
  input: string;
}

/** Fields of a stream's `metadata` that are read here or do not concern the reply. */
const readMetadata: ReadonlySet<string> = new Set(['usage', 'metrics', 'serviceTier', 'performanceConfig', 'p']);

/**
 * Translates Converse events into chat completion chunks. A usage chunk is sent only if the client asked for it. `[DONE]` is sent
 * at the end, and only after `messageStop`, so that a truncated stream does not look complete. An exception is sent in-band and
 * ends the stream.
 */
export function chatStream(call: OperationCall): StreamTranslator {
  const { head, withUsage, chunk, choice, choiceOf, emit } = chatChunks(call, 'bedrock');
  const tools = new StreamedToolCalls();
  // Converse sends an opening event for tool blocks only.
  const blocks = new NativeBlocks(call.strict);
  const held = new Map<unknown, Held>();
  /** Characters of text so far. */
  let spoken = 0;
  let stopped = false;

  const heldOf = (index: unknown): Held => {
    const known = held.get(index);
    if (known) return known;
    const fresh: Held = { redacted: [], citations: [], from: spoken, native: null, input: '' };
    held.set(index, fresh);
    return fresh;
  };

  const blockStart = (index: unknown, start: JsonObject): StreamEvent[] => {
    const use = start.toolUse;
    if (!isObject(use) || isServerTool(use)) {
      heldOf(index).native = start;
      return [];
    }
    const first = tools.open(index, use.toolUseId, use.name);
    return emit({ tool_calls: [first], ...blocks.piece(index, 'tool_use', { id: use.toolUseId, name: use.name, input: {} }) });
  };

  const blockDelta = (index: unknown, delta: JsonObject): StreamEvent[] => {
    if (typeof delta.text === 'string') {
      if (!blocks.has(index) && !held.has(index)) heldOf(index);
      spoken += delta.text.length;
      return emit({ content: delta.text, ...blocks.piece(index, 'text', { text: delta.text }) });
    }
    if (tools.has(index) && isObject(delta.toolUse)) {
      const { input } = delta.toolUse;
      if (typeof input !== 'string' || input === '') return [];
      return emit({ tool_calls: [tools.append(index, input)], ...blocks.piece(index, 'tool_use', { partial_json: input }) });
    }
    if (isObject(delta.reasoningContent)) return reasoningPart(index, delta.reasoningContent);
    return isObject(delta.citation) ? citation(index, delta.citation) : nativeDelta(index, delta);
  };

  const reasoningPart = (index: unknown, { text, signature, redactedContent }: JsonObject): StreamEvent[] => {
    if (typeof redactedContent === 'string') {
      heldOf(index).redacted.push(Buffer.from(redactedContent, 'base64'));
      return [];
    }
    if (typeof text === 'string')
      return emit({ reasoning_content: text, ...blocks.piece(index, 'thinking', { thinking: text }) });
    return typeof signature === 'string' ? emit(blocks.piece(index, 'thinking', { signature })) : [];
  };

  const citation = (index: unknown, given: JsonObject): StreamEvent[] => {
    const citations = sharedCitations([given], call);
    heldOf(index).citations.push(...citations);
    return citations.flatMap((made) =>
      emit(blocks.piece(index, 'text', { ...(blocks.has(index) ? {} : { text: '' }), citation: made })),
    );
  };

  /** A delta of a kind without a field of its own (an image, the result of a server tool). The block is sent whole. */
  const nativeDelta = (index: unknown, delta: JsonObject): StreamEvent[] => {
    const block = heldOf(index);
    const [kind, value] = Object.entries(delta)[0] ?? [];
    // Under this name, `merge` would find and change the prototype of all objects.
    if (kind === undefined || kind === '__proto__') return [];
    if (kind === 'toolUse' && isObject(value)) block.input += String(value.input ?? '');
    else {
      block.native ??= {};
      merge(block.native, kind, value);
    }
    return [];
  };

  const blockStop = (index: unknown): StreamEvent[] => {
    const last = tools.end(index);
    if (last !== null) return emit({ tool_calls: [last] });
    const block = held.get(index);
    if (block === undefined) return [];
    held.delete(index);
    if (block.native !== null) return nativeEnd(index, block.native, block.input);
    if (block.redacted.length > 0) {
      if (call.strict) dropFromReply(call, 'redacted_thinking');
      return emit(blocks.piece(index, 'redacted_thinking', { data: Buffer.concat(block.redacted).toString('base64') }));
    }
    const annotations = annotationsOf(block.citations, block.from, spoken, call);
    return annotations.length > 0 ? emit({ annotations }) : [];
  };

  const nativeEnd = (index: unknown, block: JsonObject, input: string): StreamEvent[] => {
    const { image, toolUse } = block;
    const made = isObject(image) ? imageOf(image.format, image.source) : null;
    if (made !== null) return emit({ images: [made] });
    if (call.strict) dropFromReply(call, isObject(toolUse) ? toolUse.type : kindOf(block));
    const whole = isObject(toolUse) ? serverToolBlock({ ...toolUse, input: toolInput(input) }) : nativeBlock(block);
    const { type, ...fields } = whole;
    return emit(blocks.piece(index, String(type), fields));
  };

  const metadata = (data: JsonObject): StreamEvent[] => {
    const usage = withUsage ? usageOfReply(data) : null;
    if (usage === null) {
      dropUnread(data, readMetadata, call);
      return [];
    }
    const { usage: _usage, metrics: _metrics, p: _padding, ...others } = data;
    return [chunk({ choices: [], usage: toChatUsage(usage, call.strict), ...others })];
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
          return [choiceOf(endingOf(data, call))];
        case 'metadata':
          return metadata(data);
        default: {
          const failure = eventError(item);
          if (failure === null) return [];
          stopped = false;
          // Until the first byte is sent, the pipeline can fall back to another target.
          const error = { message: failure.message, type: failure.detail, param: null, code: null };
          return head.id === null ? [] : [{ event: null, data: { error, provider: 'bedrock' } }];
        }
      }
    },
    end: () => (stopped ? [{ event: null, data: '[DONE]' }] : []),
  };
}

function endingOf(data: JsonObject, call: OperationCall): JsonObject {
  const finish_reason = finishReasonOf(data.stopReason, call.strict);
  return { index: 0, delta: {}, logprobs: null, finish_reason, ...stopSequence(data, call) };
}

/** Adds a delta to a block: lists are appended, fields of objects are replaced. A copy for each delta would take quadratic time. */
function merge(block: JsonObject, kind: string, value: unknown): void {
  const known = block[kind];
  if (Array.isArray(value)) {
    const holder: JsonObject = isObject(known) ? known : {};
    const list: unknown[] = Array.isArray(holder.content) ? holder.content : [];
    for (const item of value) list.push(item);
    holder.content = list;
    block[kind] = holder;
  } else if (isObject(known) && isObject(value)) Object.assign(known, value);
  else block[kind] = value;
}

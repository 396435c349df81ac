import type { OperationCall } from '../../contract/provider/provider.ts';
import type { StreamEvent, StreamReader, StreamTranslator } from '../../contract/provider/stream-event.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { emptyUsage, type Usage } from '../../contract/values/models/usage.ts';
import { asksForUsage } from '../../formats/openai/chat-request.ts';
import { tokenCount } from '../../formats/openai/chat-usage.ts';
import { streamError } from '../../formats/openai/provider-error.ts';
import { dropFromReply, dropUnread } from '../../formats/reply-notes.ts';

/** Converts Reka's reply to a chat completion. Unknown top-level fields are preserved. */
export function chatReply(reply: JsonObject, call: OperationCall): JsonObject {
  const { id, model, responses, usage: _usage, ...others } = reply;
  const usage = usageOf(reply);
  return {
    id: id ?? call.newId('chatcmpl-'),
    object: 'chat.completion',
    created: call.nowSeconds,
    model: model ?? call.model,
    provider: 'reka-ai',
    choices: listOf(responses).map(({ message, finish_reason: reason }, index) => {
      const part = isObject(message) ? message : {};
      const toolCalls = listOf(part.tool_calls).map(toolCall);
      const content = textOf(part.content, call);
      dropUnread(part, readFields, call);
      return {
        index,
        message: {
          role: 'assistant',
          content: content === '' && toolCalls.length > 0 ? null : content,
          ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
        },
        logprobs: null,
        finish_reason: finishReason(reason, toolCalls.length > 0, call.strict),
      };
    }),
    ...(usage === null ? {} : { usage: chatUsageOf(usage) }),
    ...others,
  };
}

/**
 * Converts chunks to those of chat completions. Each of Reka's chunks carries the whole text so far, of which only the new part
 * is sent.
 */
export function chatStream(call: OperationCall): StreamTranslator {
  const withUsage = asksForUsage(call.params);
  const called = new Set<unknown>();
  let id: unknown = null;
  let sent = '';
  let usage: Usage | null = null;
  let ended = false;
  const chunk = (fields: JsonObject): StreamEvent => ({
    event: null,
    data: { id, object: 'chat.completion.chunk', created: call.nowSeconds, model: call.model, provider: 'reka-ai', ...fields },
  });
  const choice = (delta: JsonObject, reason: string | null = null): StreamEvent =>
    chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] });
  return {
    push({ data }) {
      if (!isObject(data) || !Array.isArray(data.responses)) return [];
      const [response] = listOf(data.responses);
      if (!response) return [];
      const events: StreamEvent[] = [];
      usage = usageOf(data) ?? usage;
      if (id === null) {
        id = data.id ?? call.newId('chatcmpl-');
        events.push(choice({ role: 'assistant', content: '' }));
      }
      const content = isObject(response.chunk) ? response.chunk : {};
      const text = textOf(content.content, call);
      dropUnread(content, readFields, call);
      const fresh = text.startsWith(sent) ? text.slice(sent.length) : text;
      sent = text.startsWith(sent) ? text : sent + text;
      if (fresh !== '') events.push(choice({ content: fresh }));
      for (const item of listOf(content.tool_calls)) {
        if (called.has(item.id)) continue;
        events.push(choice({ tool_calls: [{ index: called.size, ...toolCall(item) }] }));
        called.add(item.id);
      }
      if (typeof response.finish_reason === 'string' && !ended) {
        ended = true;
        events.push(choice({}, finishReason(response.finish_reason, called.size > 0, call.strict)));
      }
      return events;
    },
    end() {
      if (!ended) return [];
      const counts = withUsage && usage !== null ? [chunk({ choices: [], usage: chatUsageOf(usage) })] : [];
      return [...counts, { event: null, data: '[DONE]' }];
    },
  };
}

/** Follows a stream. The chunk with the finish reason is the last with text. The counts grow with each chunk. */
export function chatStreamReader(): StreamReader {
  let usage: Usage | null = null;
  let ended = false;
  let error: ReturnType<typeof streamError> | null = null;
  return {
    push({ data }) {
      if (!isObject(data)) return;
      if (data.error !== undefined || (data.detail !== undefined && data.responses === undefined)) {
        error ??= streamError('reka-ai', data.error ?? data.detail);
      }
      usage = usageOf(data) ?? usage;
      if (listOf(data.responses).some(({ finish_reason: reason }) => typeof reason === 'string')) ended = true;
    },
    usage: () => usage,
    complete: () => error === null && ended,
    error: () => error,
  };
}

/** Returns the tokens of a reply or chunk. Null if it carries none. */
export function usageOf(reply: JsonObject): Usage | null {
  const raw = reply.usage;
  if (!isObject(raw)) return null;
  return { ...emptyUsage(), inputTokens: tokenCount(raw.input_tokens), outputTokens: tokenCount(raw.output_tokens), raw };
}

function chatUsageOf({ inputTokens, outputTokens }: Usage): JsonObject {
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens };
}

/**
 * Maps `stop`, `length` and `context` (the window is full) to OpenAI's finish reasons. A reply with tool calls gets `tool_calls`.
 */
function finishReason(reason: unknown, hasToolCalls: boolean, strict: boolean): string {
  if (!strict && typeof reason === 'string') return reason;
  if (reason === 'length' || reason === 'context') return 'length';
  return hasToolCalls ? 'tool_calls' : 'stop';
}

function toolCall({ id, name, parameters }: JsonObject): JsonObject {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(parameters ?? {}) } };
}

/** Fields of a message that a chat message has too. */
const readFields: ReadonlySet<string> = new Set(['role', 'content', 'tool_calls']);

/** Returns the text of a content; other parts are reported. */
function textOf(content: unknown, call: OperationCall): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map(({ type, text }) => {
      if (typeof text === 'string') return text;
      dropFromReply(call, type);
      return '';
    })
    .join('');
}

function listOf(value: unknown): JsonObject[] {
  if (isObject(value)) return [value];
  return objectsIn(value);
}

import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import type { MockBehaviour } from './model-name.ts';
import { numberIn } from './number-in.ts';
import { exampleOf } from './schema-example.ts';

/** Content of the mock's reply to one request, before it becomes a plain or streamed reply. */
export interface MockContent {
  readonly text: string;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
  /** OpenAI's `usage` object, one token per word; null with `usage=none`. */
  readonly usage: JsonObject | null;
}

/** Returns the reply to a chat or text completion request. It depends only on its input. */
export function replyTo(body: JsonObject, behaviour: MockBehaviour): MockContent {
  const messages = objectsIn(body.messages);
  const last = messages.at(-1);
  const promptText = messages.length > 0 ? messages.map((message) => textOf(message.content)).join('\n') : textOf(body.prompt);
  // A tool result is followed by text, never by the same call again, so that agent loops end.
  const callsTools = behaviour.tools.length > 0 && last?.role !== 'tool';
  const content = behaviour.text ?? echoOf(messages, body.prompt);
  if (callsTools) {
    const toolCalls = behaviour.tools.map((name, index) => ({
      id: `call_mock_${index + 1}`,
      name,
      arguments: JSON.stringify(argumentsFor(name, body.tools, content)),
    }));
    const words = toolCalls.reduce((sum, call) => sum + wordCount(call.arguments), 0);
    return { text: '', toolCalls, finishReason: 'tool_calls', usage: usageOf(behaviour, promptText, words) };
  }
  const whole = behaviour.json ? JSON.stringify(jsonFor(body.response_format, content)) : content;
  const limit = numberIn(body.max_completion_tokens ?? body.max_tokens) ?? Number.POSITIVE_INFINITY;
  const text = behaviour.json ? whole : firstWords(whole, limit);
  return {
    text,
    toolCalls: [],
    finishReason: text.length < whole.length ? 'length' : 'stop',
    usage: usageOf(behaviour, promptText, wordCount(text)),
  };
}

/** Returns the text of a message: a string, or the text parts of a list joined by line ends. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part) => (typeof part === 'string' ? part : isObject(part) && typeof part.text === 'string' ? part.text : null))
    .filter((text) => text !== null)
    .join('\n');
}

/** Returns the tokens of a text at the mock provider: one for each word. */
export function wordCount(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}

function echoOf(messages: readonly JsonObject[], prompt: unknown): string {
  const last = messages.at(-1);
  if (last?.role === 'tool') return textOf(last.content);
  const fromUser = messages.findLast((message) => message.role === 'user');
  return fromUser ? textOf(fromUser.content) : textOf(prompt);
}

function argumentsFor(name: string, tools: unknown, text: string): unknown {
  for (const tool of Array.isArray(tools) ? tools : []) {
    const fn = isObject(tool) && isObject(tool.function) ? tool.function : null;
    if (fn?.name === name && isObject(fn.parameters)) return exampleOf(fn.parameters, text);
  }
  return { input: text };
}

function jsonFor(responseFormat: unknown, text: string): unknown {
  const schema = isObject(responseFormat) && isObject(responseFormat.json_schema) ? responseFormat.json_schema.schema : null;
  return schema ? exampleOf(schema, text) : { text };
}

function firstWords(text: string, limit: number): string {
  if (!(wordCount(text) > limit)) return text;
  return (text.match(/\s*\S+/g) ?? []).slice(0, limit).join('');
}

function usageOf(behaviour: MockBehaviour, prompt: string, completionWords: number): JsonObject | null {
  if (!behaviour.usage) return null;
  const promptWords = wordCount(prompt);
  return { prompt_tokens: promptWords, completion_tokens: completionWords, total_tokens: promptWords + completionWords };
}

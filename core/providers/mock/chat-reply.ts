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

/** Maximum characters of the arguments of all calls, beside those of the last one. Each could repeat a text or constant of megabytes. */
const argumentsMax = 1_000_000;

/** Returns the reply to a chat or text completion request. It depends only on its input. */
export function replyTo(body: JsonObject, behaviour: MockBehaviour): MockContent {
  const messages = objectsIn(body.messages);
  const last = messages.at(-1);
  const promptText = messages.length > 0 ? messages.map((message) => textOf(message.content)).join('\n') : textOf(body.prompt);
  // A tool result is followed by text, never by the same call again, so that agent loops end.
  const callsTools = behaviour.tools.length > 0 && last?.role !== 'tool';
  const content = behaviour.text ?? echoOf(messages, body.prompt);
  if (callsTools) {
    let left = argumentsMax;
    const toolCalls = behaviour.tools.map((name, index) => {
      const given = left > 0 ? JSON.stringify(argumentsFor(name, body.tools, content)) : '{}';
      left -= given.length;
      return { id: `call_mock_${index + 1}`, name, arguments: given };
    });
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
  let words = 0;
  let isInWord = false;
  for (let i = 0; i < text.length; i++) {
    const wasInWord = isInWord;
    isInWord = !isWhiteSpace(text, i);
    if (isInWord && !wasInWord) words++;
  }
  return words;
}

function isWhiteSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code < 128 ? code === 32 || (code >= 9 && code <= 13) : /\s/.test(text.charAt(at));
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
  // Sticky, because a search behind the last word would begin again at each space.
  const word = /\s*\S+/y;
  let end = 0;
  for (let words = 0; words < limit && word.test(text); words++) end = word.lastIndex;
  return text.slice(0, end);
}

function usageOf(behaviour: MockBehaviour, prompt: string, completionWords: number): JsonObject | null {
  if (!behaviour.usage) return null;
  const promptWords = wordCount(prompt);
  return { prompt_tokens: promptWords, completion_tokens: completionWords, total_tokens: promptWords + completionWords };
}

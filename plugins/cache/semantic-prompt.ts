import { isObject, type JsonObject } from '../../core/contract/values/json/json.ts';

/** A request split for the semantic cache. */
export interface SemanticPrompt {
  /** The text that may be worded differently in an equal request. */
  readonly text: string;
  /** Everything else: parameters, tools, system text, and the order of roles. It must be equal. */
  readonly rest: JsonObject;
}

/** Most messages of a request that the semantic cache serves. */
const messagesMax = 4;

/**
 * Splits the parameters of a request. Null for requests that only match exactly: operations other than text generation, more than four
 * messages, messages with anything but text, or none of a user.
 */
export function semanticPrompt(operation: string | null, params: JsonObject): SemanticPrompt | null {
  switch (operation) {
    case 'complete':
      return typeof params.prompt === 'string' ? promptOf(params.prompt, without(params, 'prompt')) : null;
    case 'chatComplete':
    case 'messages':
      return Array.isArray(params.messages) ? ofMessages(params.messages, without(params, 'messages')) : null;
    case 'createModelResponse': {
      if (typeof params.input === 'string') return promptOf(params.input, without(params, 'input'));
      return Array.isArray(params.input) ? ofMessages(params.input, without(params, 'input')) : null;
    }
    default:
      return null;
  }
}

/** Returns the operation that a pass-through path has at providers with the API of OpenAI or Anthropic; null for other paths. */
export function operationOfPath(path: string): string | null {
  const [, name] = /\/(chat\/completions|completions|messages|responses)$/.exec(path) ?? [];
  return name === undefined ? null : (operations[name] ?? null);
}

const operations: Readonly<Record<string, string>> = {
  'chat/completions': 'chatComplete',
  completions: 'complete',
  messages: 'messages',
  responses: 'createModelResponse',
};

function ofMessages(messages: readonly unknown[], rest: JsonObject): SemanticPrompt | null {
  if (messages.length > messagesMax) return null;
  const texts: string[] = [];
  const exact: unknown[] = [];
  for (const message of messages) {
    if (!isObject(message) || Object.keys(message).some((key) => !messageKeys.has(key))) return null;
    const { role, content } = message;
    if (role === 'system' || role === 'developer') {
      exact.push(message);
      continue;
    }
    const text = role === 'user' || role === 'assistant' ? textOf(content) : null;
    if (text === null) return null;
    exact.push(role);
    texts.push(text);
  }
  return exact.includes('user') ? promptOf(texts.join('\n'), { ...rest, ' messages': exact }) : null;
}

const messageKeys: ReadonlySet<string> = new Set(['role', 'content', 'type']);

/** The text of a message's content; null if it holds something else. */
function textOf(content: unknown): string | null {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  const texts: string[] = [];
  for (const part of content) {
    if (!isObject(part) || typeof part.text !== 'string' || Object.keys(part).length !== 2) return null;
    if (part.type !== 'text' && part.type !== 'input_text' && part.type !== 'output_text') return null;
    texts.push(part.text);
  }
  return texts.join('\n');
}

function promptOf(text: string, rest: JsonObject): SemanticPrompt | null {
  return text.trim() === '' ? null : { text, rest };
}

/** Returns the parameters without this one, and without those that decide about the form of the reply. */
function without(params: JsonObject, key: string): JsonObject {
  const { [key]: _, stream: __, stream_options: options, ...rest } = params;
  const { include_usage: ___, ...others } = isObject(options) ? options : {};
  return Object.keys(others).length === 0 ? rest : { ...rest, stream_options: others };
}

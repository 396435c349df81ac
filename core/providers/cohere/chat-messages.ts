import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { noteOnce } from '../../formats/note-once.ts';

/** A chat history, with its files, which Cohere expects separate from the messages. */
export interface Conversation {
  readonly messages: JsonObject[];
  readonly documents: JsonObject[];
}

/**
 * Converts chat messages to Cohere's form. The forms are similar; instructions become `system`, text beside tool calls becomes
 * their plan, and reasoning becomes content. Throws `bad_request` naming the message or part it cannot read.
 */
export function toConversation(given: unknown, call: OperationCall): Conversation {
  if (!Array.isArray(given)) throw badParam('messages', 'a list of messages is required');
  const documents: JsonObject[] = [];
  const contentOf = (content: unknown, path: string): Content => contentWithout(documents, content, path, call);
  const messages = given.map((message, index) => {
    const path = `messages[${index}]`;
    if (!isObject(message)) throw badParam(path, 'a message must be an object');
    if (message.name !== undefined) noteOnce(call.dropped, 'messages.name');
    switch (message.role) {
      case 'system':
      case 'developer':
        return { role: 'system', content: contentOf(message.content, `${path}.content`) };
      case 'user':
        return { role: 'user', content: contentOf(message.content, `${path}.content`) };
      case 'assistant':
        return assistantMessage(message, path, call, contentOf);
      case 'tool':
        if (typeof message.tool_call_id !== 'string') throw badParam(`${path}.tool_call_id`, 'text is required');
        return { role: 'tool', tool_call_id: message.tool_call_id, content: contentOf(message.content, `${path}.content`) };
      default:
        throw badParam(`${path}.role`, 'system, developer, user, assistant or tool is expected');
    }
  });
  return { messages, documents };
}

type Content = string | JsonObject[];

function assistantMessage(
  message: JsonObject,
  path: string,
  call: OperationCall,
  contentOf: (content: unknown, path: string) => Content,
): JsonObject {
  const toolCalls = toolCallsOf(message, path);
  const reasoning = reasoningOf(message, call);
  const text = contentOf(message.content ?? message.refusal ?? '', `${path}.content`);
  const plan = message.tool_plan ?? (toolCalls.length > 0 && typeof text === 'string' && text !== '' ? text : undefined);
  const spoken = plan === text ? '' : text;
  const texts = typeof spoken === 'string' ? (spoken === '' ? [] : [{ type: 'text', text: spoken }]) : spoken;
  const content = reasoning.length > 0 ? [...reasoning, ...texts] : spoken;
  return {
    role: 'assistant',
    ...(content.length > 0 || toolCalls.length === 0 ? { content } : {}),
    ...(plan === undefined ? {} : { tool_plan: plan }),
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
    ...(Array.isArray(message.citations) ? { citations: message.citations } : {}),
  };
}

/**
 * Returns the reasoning of an earlier reply, from the blocks that this gateway adds without strict compliance, or from bare text.
 */
function reasoningOf(message: JsonObject, call: OperationCall): JsonObject[] {
  const blocks = objectsIn(message.content_blocks);
  if (blocks.some((block) => !['text', 'thinking', 'tool_use'].includes(String(block.type))))
    noteOnce(call.dropped, 'messages.content_blocks');
  const reasoning = blocks.filter((block) => block.type === 'thinking' && block.thinking).map((block) => block.thinking);
  if (reasoning.length === 0 && message.reasoning_content) reasoning.push(message.reasoning_content);
  return reasoning.map((thinking) => ({ type: 'thinking', thinking }));
}

function toolCallsOf(message: JsonObject, path: string): JsonObject[] {
  if (message.tool_calls === undefined || message.tool_calls === null) return [];
  if (!Array.isArray(message.tool_calls)) throw badParam(`${path}.tool_calls`, 'a list is expected');
  return message.tool_calls.map((toolCall, index) => {
    if (!isObject(toolCall) || !isObject(toolCall.function)) {
      throw badParam(`${path}.tool_calls[${index}]`, 'only calls of functions are supported');
    }
    const { name, arguments: text } = toolCall.function;
    return { id: toolCall.id, type: 'function', function: { name, arguments: text === '' ? '{}' : text } };
  });
}

/** Returns text unchanged, or parts: texts and images have the same form as in OpenAI's format, files become `documents`. */
function contentWithout(documents: JsonObject[], content: unknown, path: string, call: OperationCall): Content {
  if (typeof content === 'string') return content;
  if (content === null || content === undefined) return '';
  if (!Array.isArray(content)) throw badParam(path, 'text or a list of content parts is expected');
  return content.flatMap((part, index) => {
    const at = `${path}[${index}]`;
    if (typeof part === 'string') return [{ type: 'text', text: part }];
    if (!isObject(part)) throw badParam(at, 'a content part must be an object');
    if (part.cache_control) noteOnce(call.dropped, 'cache_control');
    if (part.type === 'refusal') return [{ type: 'text', text: part.refusal }];
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    if (part.type === 'input_audio') throw badParam(at, 'audio input is not supported by cohere');
    if (part.type !== 'file') return [part];
    documents.push(fileDocument(part, at));
    noteOnce(call.adapted, 'messages.file');
    return [];
  });
}

/** Text files only: the API reads no other kind. */
function fileDocument(part: JsonObject, path: string): JsonObject {
  const file = isObject(part.file) ? part.file : {};
  const text = /^data:text\/[^;,]+;(?:charset=[^;,]+;)?base64,(.*)$/s.exec(String(file.file_data))?.[1];
  if (text === undefined) throw badParam(`${path}.file`, 'only text files, as data URLs, are supported by cohere');
  const title = typeof file.filename === 'string' ? { title: file.filename } : {};
  return { data: { ...title, text: Buffer.from(text, 'base64').toString('utf8') } };
}

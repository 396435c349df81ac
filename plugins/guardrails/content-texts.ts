import { isObject, type JsonObject } from '../../core/contract/values/json/json.ts';
import { fileTexts } from './encoded-texts.ts';
import { everyText, type Path, plainText, type TextPart } from './every-text.ts';
import { inOtherCase } from './other-case.ts';
import type { Scope } from './texts.ts';

/** Keys of requests whose values are any JSON: names and numbers in it are read too. */
export const dataKeys: ReadonlySet<string> = new Set(['state', 'documents']);

/** Adds the texts of the content of a request that are in the scope. `all_messages` reads every text instead. */
export function inputTexts(value: unknown, path: Path, scope: Scope, parts: TextPart[]): void {
  const [key] = path;
  if (dataKeys.has(key as string)) return dataTexts(value, path, parts);
  if (!Array.isArray(value) || (key !== 'messages' && key !== 'input')) return contentTexts(value, path, parts);
  const isOfUser = (item: unknown) =>
    !isObject(item) || item.role === undefined || item.role === 'user' || inOtherCase(item, contentMembers);
  for (const [index, item] of value.entries()) {
    if (scope === 'user_messages' && !isOfUser(item)) continue;
    // The last message counts. Items of `input` belong together.
    if (scope === 'last_message' && key === 'messages' && index < value.length - 1) continue;
    const at = [...path, index];
    if (!isObject(item)) {
      contentTexts(item, at, parts);
      continue;
    }
    if (inOtherCase(item, contentMembers)) {
      everyText(item, at, parts);
      continue;
    }
    // Providers ignore members that are not of their format, so none of these hides another.
    if (typeof item.text === 'string') parts.push({ text: plainText(item.text), path: [...at, 'text'] });
    if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output')
      contentTexts(item.output, [...at, 'output'], parts);
    // Results of the tools of a provider, such as `shell_call_output`, have forms of their own.
    else everyText(item.output, [...at, 'output'], parts);
    // Those of a search in files, of code, and of a failed call.
    for (const member of ['results', 'outputs', 'error']) everyText(item[member], [...at, member], parts);
    // The result of a program that called tools, and the reason for a refused call.
    if (item.type === 'program_output') contentTexts(item.result, [...at, 'result'], parts);
    if (item.type === 'mcp_approval_response') contentTexts(item.reason, [...at, 'reason'], parts);
    contentTexts(item.content, [...at, 'content'], parts, item.role ?? 'user');
  }
}

/** Adds the texts that a model wrote: the content of the choices, messages or items of a reply. */
export function outputTexts(value: unknown, path: Path, parts: TextPart[]): void {
  if (!Array.isArray(value)) return contentTexts(value, path, parts);
  for (const [index, item] of value.entries()) {
    if (!isObject(item)) continue;
    const at = [...path, index];
    if (typeof item.text === 'string') parts.push({ text: plainText(item.text), path: [...at, 'text'] });
    // Providers of chat completions may repeat the text beside the message.
    if (isObject(item.message)) {
      contentTexts(item.message.content, [...at, 'message', 'content'], parts);
      contentTexts(item.message.refusal, [...at, 'message', 'refusal'], parts);
      if (isObject(item.message.audio))
        contentTexts(item.message.audio.transcript, [...at, 'message', 'audio', 'transcript'], parts);
    } else if (typeof item.text !== 'string') {
      contentTexts(item.content, [...at, 'content'], parts);
      if (item.type === 'reasoning') contentTexts(item.summary, [...at, 'summary'], parts);
    }
  }
}

/** Any JSON. Of objects that hold nothing but a `text`, such as documents of a rerank, the text is read without its name. */
export function dataTexts(value: unknown, path: Path, parts: TextPart[]): void {
  if (Array.isArray(value)) for (const [index, item] of value.entries()) dataTexts(item, [...path, index], parts);
  else if (isObject(value) && typeof value.text === 'string' && Object.keys(value).length === 1)
    parts.push({ text: value.text, path: [...path, 'text'] });
  else everyText(value, path, parts, true);
}

/** Members of messages and of their parts that decide about their texts. */
const contentMembers: ReadonlySet<string> = new Set(['role', 'type', 'content', 'text', 'output']);

/** Types of parts whose texts `contentTexts` finds, or that hold media, and those that a model wrote, whose texts are no content. */
const knownParts: ReadonlySet<unknown> = new Set([
  ...['text', 'input_text', 'output_text', 'summary_text', 'reasoning_text', 'refusal', 'search_result', 'tool_result'],
  ...['image', 'input_image', 'image_url', 'image_file', 'computer_screenshot', 'video', 'input_video', 'video_url'],
  ...['audio', 'input_audio', 'audio_url', 'file', 'input_file', 'file_url', 'document', 'document_url', 'container_upload'],
  ...['tool_use', 'server_tool_use', 'mcp_tool_use', 'redacted_thinking', 'reasoning', 'tool_reference', 'reference'],
]);

/** True for a part of a request that a server could read in a way that `contentTexts` does not. No format has reasoning of the user. */
function isUnknownPart(part: JsonObject, role: unknown): boolean {
  const { type } = part;
  const isKnown = knownParts.has(type) || (typeof type === 'string' && type.endsWith('_tool_result'));
  return (!isKnown && !(type === 'thinking' && role === 'assistant')) || inOtherCase(part, contentMembers);
}

/** A text, or a list of texts and of parts with text. `role`: that of the message of a request, null for other values. */
function contentTexts(value: unknown, path: Path, parts: TextPart[], role: unknown = null): void {
  if (typeof value === 'string') parts.push({ text: plainText(value), path });
  // No format has it, but some servers accept it.
  else if (isObject(value)) everyText(value, path, parts);
  if (!Array.isArray(value)) return;
  for (const [i, item] of value.entries()) {
    const at = [...path, i];
    if (typeof item === 'string') parts.push({ text: plainText(item), path: at });
    if (role !== null && (Array.isArray(item) || (isObject(item) && isUnknownPart(item, role)))) {
      everyText(item, at, parts);
      continue;
    }
    if (!isObject(item)) continue;
    if (typeof item.text === 'string') parts.push({ text: plainText(item.text), path: [...at, 'text'] });
    if (typeof item.refusal === 'string') parts.push({ text: item.refusal, path: [...at, 'refusal'] });
    if (typeof item.filename === 'string') parts.push({ text: item.filename, path: [...at, 'filename'] });
    if (isObject(item.file)) contentTexts(item.file.filename, [...at, 'file', 'filename'], parts);
    if (typeof item.transcript === 'string') parts.push({ text: item.transcript, path: [...at, 'transcript'] });
    if (item.type === 'tool_result') contentTexts(item.content, [...at, 'content'], parts);
    else if (typeof item.type === 'string' && item.type.endsWith('_tool_result'))
      everyText(item.content, [...at, 'content'], parts);
    if (item.type === 'document') documentTexts(item, at, parts);
    if (item.type === 'search_result') everyText(item, at, parts);
    fileTexts(item, at, parts);
  }
}

/** Texts of a document in a message: its title and context, and its content if that is text. */
function documentTexts({ title, context, source }: JsonObject, path: Path, parts: TextPart[]): void {
  contentTexts(title, [...path, 'title'], parts);
  contentTexts(context, [...path, 'context'], parts);
  if (!isObject(source)) return;
  if (source.type === 'text') contentTexts(source.data, [...path, 'source', 'data'], parts);
  contentTexts(source.content, [...path, 'source', 'content'], parts);
}

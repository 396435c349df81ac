import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { changeMessages } from './change-messages.ts';

/**
 * Returns a request with `file` and `input_audio` parts in Mistral's form: `document_url` for data and web addresses, `file` with
 * the id beside the type for files in its own store, and the base64 of audio without its format. Returns the same object if
 * there are none.
 */
export function withMessageParts(params: JsonObject): JsonObject {
  return changeMessages(params, hasOtherForm, withParts);
}

function hasOtherForm(message: unknown): message is JsonObject & { content: unknown[] } {
  return isObject(message) && Array.isArray(message.content) && message.content.some((part) => isFile(part) || isAudio(part));
}

function isFile(part: unknown): part is JsonObject & { file: JsonObject } {
  return isObject(part) && part.type === 'file' && isObject(part.file);
}

function isAudio(part: unknown): part is JsonObject & { input_audio: JsonObject } {
  return isObject(part) && part.type === 'input_audio' && isObject(part.input_audio);
}

function withParts(message: JsonObject & { content: unknown[] }): JsonObject {
  return { ...message, content: message.content.map(toPart) };
}

function toPart(part: unknown): unknown {
  if (isFile(part)) return documentPart(part.file);
  return isAudio(part) ? { type: 'input_audio', input_audio: part.input_audio.data } : part;
}

function documentPart(file: JsonObject): JsonObject {
  if (file.file_data === undefined) return { type: 'file', file_id: file.file_id };
  const text = String(file.file_data);
  const url = /^[a-z][a-z0-9+.-]*:/i.test(text) ? text : `data:application/pdf;base64,${text}`;
  return { type: 'document_url', document_url: url, ...(file.filename ? { document_name: file.filename } : {}) };
}

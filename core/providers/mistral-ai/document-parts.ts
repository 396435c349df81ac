import { isObject, type JsonObject } from '../../contract/values/json/json.ts';

/**
 * Returns a request with `file` parts in Mistral's form: `document_url` for data and web addresses, `file` with the id beside the
 * type for files in its own store. Returns the same object if there are none.
 */
export function withDocuments(params: JsonObject): JsonObject {
  const { messages } = params;
  if (!Array.isArray(messages) || !messages.some(holdsFile)) return params;
  return { ...params, messages: messages.map((message) => (holdsFile(message) ? withParts(message) : message)) };
}

function holdsFile(message: unknown): message is JsonObject & { content: unknown[] } {
  return isObject(message) && Array.isArray(message.content) && message.content.some(isFile);
}

function isFile(part: unknown): part is JsonObject & { file: JsonObject } {
  return isObject(part) && part.type === 'file' && isObject(part.file);
}

function withParts(message: JsonObject & { content: unknown[] }): JsonObject {
  return { ...message, content: message.content.map((part) => (isFile(part) ? documentPart(part.file) : part)) };
}

function documentPart(file: JsonObject): JsonObject {
  if (file.file_data === undefined) return { type: 'file', file_id: file.file_id };
  const text = String(file.file_data);
  const url = /^[a-z][a-z0-9+.-]*:/i.test(text) ? text : `data:application/pdf;base64,${text}`;
  return { type: 'document_url', document_url: url, ...(file.filename ? { document_name: file.filename } : {}) };
}

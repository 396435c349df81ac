import {
  type EncodedFile,
  encodedText,
  fileOfBase64,
  fileOfDataUrl,
  isWords,
  statedType,
  textOfFile,
} from '../contract/values/bodies/encoded-file.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';

/** A member with content that guardrails check. */
export interface CheckedText {
  /** A text, or any JSON. */
  readonly content: unknown;
  write(changed: unknown): void;
}

/** Members whose texts are ids, addresses, credentials or words of the protocol. A text with white space is none of these. */
const notContent: ReadonlySet<string> = new Set([
  ...[
    'jsonrpc',
    'method',
    'id',
    'kind',
    'role',
    'state',
    'status',
    'timestamp',
    'url',
    'uri',
    'fileWithUri',
    'file_with_uri',
    '@type',
  ],
  ...['messageId', 'message_id', 'taskId', 'task_id', 'contextId', 'context_id', 'artifactId', 'artifact_id', 'tenant'],
  ...['mimeType', 'mime_type', 'mediaType', 'media_type', 'acceptedOutputModes', 'accepted_output_modes', 'extensions'],
  ...['referenceTaskIds', 'reference_task_ids', 'token', 'schemes', 'scheme', 'credentials', 'pageToken', 'nextPageToken'],
]);

/** Members that are any JSON. */
const data: ReadonlySet<string> = new Set(['data', 'metadata', 'details']);

/** Members that hold the bytes of a file in base64. */
const bytes: ReadonlySet<string> = new Set(['raw', 'bytes', 'fileWithBytes', 'file_with_bytes']);

/** Members that hold the address of a file, which may be the file itself as a data URL. */
const addresses: ReadonlySet<string> = new Set(['url', 'uri', 'fileWithUri', 'file_with_uri']);

/** Deeper values have no members that A2A defines. */
const depthMax = 64;

/**
 * Returns every content of a request or a reply of either version: texts of parts, artifacts, messages and errors, their data and metadata, and
 * files in text. Throws Error for a value that is nested too deeply.
 */
export function checkedTexts(value: unknown, name = '', depth = 0): CheckedText[] {
  if (typeof value !== 'object' || value === null) return [];
  if (depth > depthMax) throw new Error(`The message is nested in more than ${depthMax} levels`);
  const members = value as JsonObject;
  return Object.entries(members).flatMap(([key, inner]) => {
    const own = Array.isArray(value) ? name : key;
    const write = (changed: unknown): void => {
      members[key] = changed;
    };
    if (data.has(own) && !Array.isArray(value)) return inner === null ? [] : [{ content: inner, write }];
    if (typeof inner !== 'string') return checkedTexts(inner, own, depth + 1);
    const file = fileIn(members, own, inner);
    if (file !== null) return fileText(file, inner, write);
    if (inner === '' || (notContent.has(own) && !/\s/.test(inner))) return [];
    return [{ content: inner, write }];
  });
}

/** Returns the file in a member, with the type of text if its part states it; null for other texts. */
function fileIn(holder: JsonObject, name: string, value: string): EncodedFile | null {
  const stated = statedType(holder);
  if (bytes.has(name)) return fileOfBase64(value, stated);
  return addresses.has(name) ? fileOfDataUrl(value, stated) : null;
}

/** A file in text; nothing for other bytes. */
function fileText(file: EncodedFile, value: string, write: CheckedText['write']): CheckedText[] {
  const text = textOfFile(file.bytes, file.type);
  if (text === null) return isWords(value) ? [{ content: value, write }] : [];
  return text === '' ? [] : [{ content: text, write: (changed) => write(encodedText(file, String(changed))) }];
}

/** The part of a JSON-RPC reply with the members of A2A. */
export function resultOf(reply: JsonObject): JsonObject {
  return isObject(reply.result) ? reply.result : reply;
}

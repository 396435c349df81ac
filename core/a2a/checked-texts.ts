import { isUtf8 } from 'node:buffer';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import { percentDecodedAnyway } from '../contract/values/text/percent-decoded.ts';

/** A member with content that guardrails check. */
export interface CheckedText {
  /** A text, or any JSON. */
  readonly content: unknown;
  write(changed: unknown): void;
}

/** Members whose texts are ids, addresses, credentials or words of the protocol. */
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

const dataUrl = /^\s*data:[^,]*,/i;

const base64 = /^[\w+/=\s-]*$/;

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
    if (addresses.has(own) && dataUrl.test(inner)) return dataUrlText(inner, write);
    if (inner === '' || notContent.has(own)) return [];
    return bytes.has(own) && base64.test(inner) ? fileText(inner, write) : [{ content: inner, write }];
  });
}

/** A file in text; nothing for other bytes. */
function fileText(encoded: string, write: CheckedText['write']): CheckedText[] {
  const decoded = Buffer.from(encoded, 'base64');
  if (!isUtf8(decoded)) return [];
  return [{ content: decoded.toString(), write: (changed) => write(Buffer.from(String(changed)).toString('base64')) }];
}

/** A data URL in text; nothing for other bytes. */
function dataUrlText(address: string, write: CheckedText['write']): CheckedText[] {
  const [head] = dataUrl.exec(address) as RegExpExecArray;
  const body = percentDecodedAnyway(address.slice(head.length));
  if (/;base64\s*,$/i.test(head)) return fileText(body, (encoded) => write(head + String(encoded)));
  return [{ content: body, write: (changed) => write(head + encodeURIComponent(String(changed))) }];
}

/** The part of a JSON-RPC reply with the members of A2A. */
export function resultOf(reply: JsonObject): JsonObject {
  return isObject(reply.result) ? reply.result : reply;
}

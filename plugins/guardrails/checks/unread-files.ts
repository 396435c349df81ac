import * as v from 'valibot';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import { uploadsBatch } from '../../../core/contract/plugin/requests/uploads.ts';
import type { OperationName } from '../../../core/contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../../core/contract/values/json/json.ts';
import { depthMax, tooDeep } from '../depth.ts';
import { bytesOfFile, dataUrlFile } from '../encoded-texts.ts';
import { fileKind } from '../file-kind.ts';
import { type Check, defineCheck } from './check.ts';

const kinds = ['image', 'audio', 'id', 'url'] as const;
/** A file that no check reads: by its bytes, or in place of them its id at the provider or its address. */
type Unread = (typeof kinds)[number] | 'document';

/**
 * `svc.unreadFiles`: the request has no file whose text other checks do not read, such as a PDF or an office file. Reads messages, uploads, forms that
 * pass through, and every other body with files, except the audio and images of routes that take nothing else.
 */
export const unreadFiles: Check = defineCheck({
  id: 'svc.unreadFiles',
  sides: ['input'],
  parameters: v.strictObject({ allow: v.optional(v.array(v.picklist(kinds)), []) }),
  prepare:
    ({ allow }) =>
    ({ ctx, body, operation }) => {
      const found = new Set<Unread>(unreadInForm(ctx, operation));
      addUnread(body, found, 0);
      if (mediaOperations.has(operation)) for (const kind of ['image', 'audio'] as const) found.delete(kind);
      const unread = [...found].filter((kind) => !allow.includes(kind as (typeof kinds)[number]));
      const verdict = unread.length === 0;
      const explanation = verdict ? 'No check leaves a file unread.' : `Checks cannot read these files: ${unread.join(', ')}.`;
      return { verdict, data: { explanation, unread, allow } };
    },
});

/** Operations whose forms hold audio or images. Providers read no text in other files there. */
const mediaOperations: ReadonlySet<OperationName | null> = new Set([
  ...(['createTranscription', 'createTranslation', 'imageEdit', 'imageVariation'] as const),
]);

function unreadInForm({ form, endpoint }: RequestContext, operation: OperationName | null): readonly Unread[] {
  if (form === null || mediaOperations.has(operation) || uploadsBatch(endpoint, form)) return [];
  return form.flatMap(({ filename, contentType, body }) => {
    const kind = filename === null ? 'text' : fileKind(body, contentType);
    return kind === 'text' ? [] : [kind];
  });
}

/** Members with the address of a file, as a text or in an object with a `url`. */
const addressKeys: ReadonlySet<string> = new Set([
  ...['image_url', 'document_url', 'video_url', 'audio_url', 'file_url', 'file_uri', 'fileUri', 's3Location'],
]);
/** Members of servers with formats of their own, such as Ollama, with a medium as base64, a data URL or an address, or a list of these. */
const mediaKeys: ReadonlySet<string> = new Set([
  ...['image', 'images', 'image_base64', 'init_image', 'mask', 'audio', 'video', 'videos'],
]);
const idKeys: ReadonlySet<string> = new Set(['file_id', 'file_ids', 'vector_store_ids']);

/** `name`: the member that holds the value. Throws Error for a value that is nested too deeply to be read. */
function addUnread(value: unknown, found: Set<Unread>, depth: number, name = ''): void {
  if (depth > depthMax) throw tooDeep();
  if (Array.isArray(value)) for (const item of value) addMember({ [name]: item }, name, item, found, depth);
  else if (isObject(value)) for (const [key, item] of Object.entries(value)) addMember(value, key, item, found, depth);
}

function addMember(holder: JsonObject, key: string, item: unknown, found: Set<Unread>, depth: number): void {
  const unread = kindOfMember(holder, key, item);
  if (unread === null) addUnread(item, found, depth + 1, key);
  else if (unread !== 'text') found.add(unread);
}

/** Base64 of no type is a file from this size. */
const fileBytesMin = 64;

/** Returns the kind of file that a member holds; null: it holds none itself. */
function kindOfMember(holder: JsonObject, key: string, item: unknown): Unread | 'text' | null {
  // Reasoning that its provider has encrypted.
  if (holder.type === 'redacted_thinking') return null;
  if (typeof item === 'string') {
    const file = mediaKeys.has(key) ? bytesOfFile({ data: item }, 'data') : (bytesOfFile(holder, key) ?? dataUrlFile(item));
    // A word such as `hello` is base64 too.
    const isWord = file !== null && file.head === '' && file.type === undefined && file.bytes.length < fileBytesMin;
    if (file !== null && !isWord) return fileKind(file.bytes, file.type);
  }
  if (idKeys.has(key)) return item === null || (Array.isArray(item) && item.length === 0) ? null : 'id';
  const address = isObject(item) ? (item.url ?? item.uri) : item;
  if (typeof address !== 'string' || /^data:/i.test(address)) return null;
  const isSource = key === 'source' && isObject(item) && item.type === 'url';
  return isSource || addressKeys.has(key) || (mediaKeys.has(key) && /^https?:/i.test(address)) ? 'url' : null;
}

import * as v from 'valibot';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import { uploadsBatch } from '../../../core/contract/plugin/requests/uploads.ts';
import type { OperationName } from '../../../core/contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../../core/contract/values/json/json.ts';
import { depthMax, tooDeep } from '../depth.ts';
import { bytesOfFile } from '../encoded-texts.ts';
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
const idKeys: ReadonlySet<string> = new Set(['file_id', 'file_ids', 'vector_store_ids']);

/** Throws Error for a value that is nested too deeply to be read. */
function addUnread(value: unknown, found: Set<Unread>, depth: number): void {
  if (depth > depthMax) throw tooDeep();
  if (Array.isArray(value)) for (const item of value) addUnread(item, found, depth + 1);
  if (!isObject(value)) return;
  for (const [key, item] of Object.entries(value)) {
    const unread = kindOfMember(value, key, item);
    if (unread === 'text') continue;
    if (unread !== null) found.add(unread);
    else addUnread(item, found, depth + 1);
  }
}

/** Base64 of no type is a file from this size. */
const fileBytesMin = 64;

/** Returns the kind of file that a member holds; null: it holds none itself. */
function kindOfMember(holder: JsonObject, key: string, item: unknown): Unread | 'text' | null {
  // Reasoning that its provider has encrypted.
  if (holder.type === 'redacted_thinking') return null;
  if (typeof item === 'string') {
    const file = bytesOfFile(holder, key);
    // A word such as `hello` is base64 too.
    const isWord = file !== null && file.head === '' && file.type === undefined && file.bytes.length < fileBytesMin;
    if (file !== null && !isWord) return fileKind(file.bytes, file.type);
  }
  if (idKeys.has(key)) return item === null || (Array.isArray(item) && item.length === 0) ? null : 'id';
  const isAddress = addressKeys.has(key) || (key === 'source' && isObject(item) && item.type === 'url');
  if (!isAddress) return null;
  const address = isObject(item) ? (item.url ?? item.uri) : item;
  return typeof address === 'string' && !/^data:/i.test(address) ? 'url' : null;
}

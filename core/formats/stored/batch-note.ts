import { type JsonObject, parseObject } from '../../contract/values/json/json.ts';
import { bucketPattern } from '../../provider-settings/kinds.ts';
import { isMetadata } from './batch-plan.ts';
import type { ObjectLocation } from './stored-object.ts';

/**
 * Fields of a batch that a cloud's job cannot hold. They are stored as an object beside the job's input,
 * `svc-batches/<uuid>/batch.json`, with `input_file_id` and `metadata`. They are returned to clients and have no other effect.
 */
export interface BatchNote {
  readonly input_file_id: string;
  readonly metadata: Readonly<Record<string, string>> | null;
}

const noteBytesMax = 64 * 1024;
/** Maximum number of notes that are read at the same time for a list. */
const atOnce = 10;

/** Returns the location of the note in the folder of a batch. */
export function noteIn(bucket: string, folder: string): ObjectLocation {
  return { bucket, key: `${folder}batch.json` };
}

/**
 * Returns the location of the note beside the input at this `s3://` or `gs://` address; null if the gateway did not write that
 * input, or if it is in another bucket than `own`, the one of the settings (null: any).
 */
export function noteBeside(address: string | null, own: string | null): ObjectLocation | null {
  const [, bucket, folder] = /^\w\w:\/\/([^/]+)\/(svc-batches\/[\da-f-]{36}\/)[^/]+$/.exec(address ?? '') ?? [];
  if (bucket === undefined || folder === undefined || !bucketPattern.test(bucket)) return null;
  return own === null || own === bucket ? noteIn(bucket, folder) : null;
}

export async function* noteBytes(note: BatchNote): AsyncGenerator<Uint8Array> {
  yield Buffer.from(JSON.stringify(note));
}

/** Adds the data of its note to a batch. Returns it unchanged without a readable note. */
export async function withNote(batch: JsonObject, bytes: AsyncIterable<Uint8Array> | null): Promise<JsonObject> {
  const note = bytes && (await parsed(bytes));
  return note ? { ...batch, ...note } : batch;
}

/** Calls `each` for all items, a few at a time. The results are in the order of the items. */
export async function fewAtOnce<Item, Result>(items: readonly Item[], each: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let i = 0; i < items.length; i += atOnce) results.push(...(await Promise.all(items.slice(i, i + atOnce).map(each))));
  return results;
}

async function parsed(bytes: AsyncIterable<Uint8Array>): Promise<BatchNote | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    if (size > noteBytesMax) return null;
    chunks.push(chunk);
  }
  const { input_file_id, metadata } = parseObject(Buffer.concat(chunks)) ?? {};
  return typeof input_file_id === 'string' ? { input_file_id, metadata: isMetadata(metadata) ? metadata : null } : null;
}

import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../contract/json.ts';
import type { Operation, OperationCall, StepReply, StepServices } from '../../contract/provider.ts';
import { bucketPattern } from '../../contract/provider-settings.ts';
import { badParam } from './bad-param.ts';

/** Where an object lies in a cloud's storage. */
export interface ObjectPlace {
  readonly bucket: string;
  readonly key: string;
}

/** Folder of the files that clients upload: `svc-files/<purpose>/<uuid><note>/<name>`, so that nothing else has to be kept about them. */
export const filesFolder = 'svc-files/';

/** A file's id: its `s3://` or `gs://` address percent-encoded, so that it is one segment of a path. */
export function idOfObject(scheme: 's3' | 'gs', { bucket, key }: ObjectPlace): string {
  return encodeURIComponent(`${scheme}://${bucket}/${key}`);
}

/**
 * The object an id means, percent-encoded once, twice (as clients do with ids in paths) or not at all. Throws `bad_request` naming
 * `param`. `bucket` is the one of the settings: files of another bucket are nobody's business here.
 */
export function objectOfId(scheme: 's3' | 'gs', id: unknown, param: string, bucket: string | null = null): ObjectPlace {
  const found = new RegExp(`^${scheme}://([^/]+)/(.+)$`, 's').exec(decoded(id));
  const place = { bucket: found?.[1] ?? '', key: found?.[2] ?? '' };
  const dots = place.key.split('/').some((segment) => segment === '.' || segment === '..');
  if (!bucketPattern.test(place.bucket) || dots) throw badParam(param, `a file such as ${scheme}://bucket/key is expected`);
  if (bucket !== null && place.bucket !== bucket) throw badParam(param, `the file is not in the bucket ${bucket}`);
  return place;
}

/** An id of a path or body without its percent-encoding, however often it was encoded. */
export function decoded(id: unknown): string {
  let text = typeof id === 'string' ? id : '';
  try {
    for (let i = 0; i < 2 && /%[0-9a-f]{2}/i.test(text); i++) text = decodeURIComponent(text);
  } catch {
    return '';
  }
  return text;
}

/** Key of a new upload; for `note` see `noteOfUpload`. */
export function keyOfUpload(purpose: string, filename: string, note = ''): string {
  const name = filename.replace(/[^\w.-]+/g, '_').slice(-100);
  return `${filesFolder}${purpose}/${randomUUID()}${note}/${/^\.*$/.test(name) ? 'file' : name}`;
}

/** OpenAI's file object (https://platform.openai.com/docs/api-reference/files/object). */
export function fileObject(
  scheme: 's3' | 'gs',
  place: ObjectPlace,
  facts: { bytes: number; createdAt: number | null },
): JsonObject {
  const [, purpose] = place.key.startsWith(filesFolder) ? place.key.split('/') : [];
  return {
    id: idOfObject(scheme, place),
    object: 'file',
    bytes: facts.bytes,
    created_at: facts.createdAt,
    filename: place.key.split('/').at(-1) ?? place.key,
    purpose: purpose ?? (place.key.endsWith('.out') ? 'batch_output' : 'batch'),
    status: 'processed',
  };
}

/** A percent-encoded path of segments, as signatures want it: all but unreserved characters (RFC 3986). */
export function encodedKey(key: string): string {
  return key.split('/').map(strictly).join('/');
}

/** One value of a query or path, all but unreserved characters encoded. */
export function strictly(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** An operation of several exchanges; tokens are on the lines of a batch, not on the calls about it. */
export function kept(steps: (call: OperationCall, services: StepServices) => Promise<StepReply>): Operation {
  return {
    path: () => '',
    steps,
    usage: () => null,
    streamReader: () => ({ push: () => {}, usage: () => null, complete: () => true }),
  };
}

export function jsonReply(body: JsonObject): StepReply {
  return { status: 200, contentType: 'application/json', body };
}

/** Unix seconds of an ISO time; null for what is none. */
export function secondsOf(time: unknown): number | null {
  const ms = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(ms) ? null : Math.floor(ms / 1000);
}

/** A page size a client asked for, between 1 and 100. */
export function limitOf(query: URLSearchParams, fallback = 20): number {
  const limit = Number(query.get('limit') ?? fallback);
  return Number.isInteger(limit) && limit >= 1 ? Math.min(limit, 100) : fallback;
}

/** True where the query asks for the provider's own answer beside ours. */
export function wantsDetails(call: OperationCall): boolean {
  return new URLSearchParams(call.query).get('include_provider_details') === 'true';
}

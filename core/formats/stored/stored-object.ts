import { randomUUID } from 'node:crypto';
import type { OperationCall } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { bucketPattern } from '../../provider-settings/kinds.ts';
import { badParam } from '../bad-param.ts';
import { limitOf } from './stored-operation.ts';

/** Location of an object in a cloud's storage. */
export interface ObjectLocation {
  readonly bucket: string;
  readonly key: string;
}

/**
 * Folder of the files that clients upload: `svc-files/<purpose>/<uuid><note>/<name>`. The key holds all properties of a file, so
 * nothing else is stored.
 */
const filesFolder = 'svc-files/';

/** Returns a file's id: its `s3://` or `gs://` address, percent-encoded so that it is one segment of a path. */
export function idOfObject(scheme: 's3' | 'gs', { bucket, key }: ObjectLocation): string {
  return encodeURIComponent(`${scheme}://${bucket}/${key}`);
}

/**
 * Returns the location that an id names. Ids may be percent-encoded once, twice (as clients encode ids in paths) or not at all.
 * Throws `bad_request` naming `param`, also for an object outside `bucket`, the bucket of the settings.
 */
export function objectOfId(scheme: 's3' | 'gs', id: unknown, param: string, bucket: string | null = null): ObjectLocation {
  const found = new RegExp(`^${scheme}://([^/]+)/(.+)$`, 's').exec(decoded(id));
  const location = { bucket: found?.[1] ?? '', key: found?.[2] ?? '' };
  const dots = location.key.split('/').some((segment) => segment === '.' || segment === '..');
  if (!bucketPattern.test(location.bucket) || dots) throw badParam(param, `a file such as ${scheme}://bucket/key is expected`);
  if (bucket !== null && location.bucket !== bucket) throw badParam(param, `the file is not in the bucket ${bucket}`);
  return location;
}

/** Returns an id of a path or body after removing up to two layers of percent-encoding. */
export function decoded(id: unknown): string {
  let text = typeof id === 'string' ? id : '';
  try {
    for (let i = 0; i < 2 && /%[0-9a-f]{2}/i.test(text); i++) text = decodeURIComponent(text);
  } catch {
    return '';
  }
  return text;
}

/** Returns the key of a new upload. For `note` see `noteOfUpload`. */
export function keyOfUpload(purpose: string, filename: string, note: string): string {
  const name = filename.replace(/[^\w.-]+/g, '_').slice(-100);
  return `${filesFolder}${purpose}/${randomUUID()}${note}/${/^\.*$/.test(name) ? 'file' : name}`;
}

/** Returns OpenAI's file object (https://platform.openai.com/docs/api-reference/files/object). */
export function fileObject(
  scheme: 's3' | 'gs',
  location: ObjectLocation,
  facts: { bytes: number; createdAt: number | null },
): JsonObject {
  const [, purpose] = location.key.startsWith(filesFolder) ? location.key.split('/') : [];
  return {
    id: idOfObject(scheme, location),
    object: 'file',
    bytes: facts.bytes,
    created_at: facts.createdAt,
    filename: location.key.split('/').at(-1) ?? location.key,
    purpose: purpose ?? (location.key.endsWith('.out') ? 'batch_output' : 'batch'),
    status: 'processed',
  };
}

/** Returns a path with its segments percent-encoded for signatures: all but unreserved characters (RFC 3986). */
export function encodedKey(key: string): string {
  return key.split('/').map(strictly).join('/');
}

/** Encodes one value of a query or path: all but unreserved characters. */
export function strictly(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Returns which objects a list of files requests: below a prefix, after a key. Throws `bad_request` naming `after`. */
export function askedObjects(
  scheme: 's3' | 'gs',
  call: OperationCall,
  bucket: string,
): { readonly prefix: string; readonly limit: number; readonly after: string | null } {
  const asked = new URLSearchParams(call.query);
  const after = asked.get('after');
  const purpose = asked.get('purpose');
  return {
    prefix: purpose !== null && /^[\w-]{1,64}$/.test(purpose) ? `${filesFolder}${purpose}/` : filesFolder,
    limit: limitOf(asked, 100),
    after: after === null ? null : objectOfId(scheme, after, 'after', bucket).key,
  };
}

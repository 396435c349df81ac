import { isOwnId } from '../../contract/provider/own-store.ts';
import type { OperationCall, StepResponse, StepServices } from '../../contract/provider/provider.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { requireOwnHost } from '../../formats/stored/require-own-host.ts';
import { type ObjectLocation, objectOfId } from '../../formats/stored/stored-object.ts';
import { exchange } from '../../formats/stored/stored-operation.ts';

/** Cloud Storage for all bucket locations (https://cloud.google.com/storage/docs/json_api). */
const storageOrigin = 'https://storage.googleapis.com';

/** `vertex_storage_bucket_name`; null if it is not set. */
export function bucketIn({ settings }: OperationCall): string | null {
  return typeof settings.vertex_storage_bucket_name === 'string' ? settings.vertex_storage_bucket_name : null;
}

/** Returns the bucket to write to. Throws `invalid_config` if none is set. */
export function bucketOf(call: OperationCall): string {
  const bucket = bucketIn(call);
  if (bucket !== null) return bucket;
  throw new GatewayError('invalid_config', {
    message: 'files of vertex-ai are stored in Cloud Storage. Set the bucket in x-svc-vertex-storage-bucket-name',
    param: 'vertex_storage_bucket_name',
  });
}

export const requireGoogle = requireOwnHost('vertex-ai');

/** Returns the object's description: `{name, bucket, size, timeCreated, …}`. */
export async function describeObject(services: StepServices, location: ObjectLocation): Promise<JsonObject> {
  const response = await exchange(services, { method: 'GET', origin: storageOrigin, path: pathOf(location) });
  return response.json();
}

/** Returns the object's bytes. */
export function readObject(services: StepServices, location: ObjectLocation): Promise<StepResponse> {
  return exchange(services, { method: 'GET', origin: storageOrigin, path: `${pathOf(location)}?alt=media` });
}

/** Returns the object's bytes. Null if it does not exist or may not be read. */
export async function readIfThere(services: StepServices, location: ObjectLocation): Promise<AsyncIterable<Uint8Array> | null> {
  const response = await services.send({ method: 'GET', origin: storageOrigin, path: `${pathOf(location)}?alt=media` });
  if (response.status < 300) return response.body;
  response.cancel();
  return null;
}

/** Writes an object while it is read. `bytes` null: of unknown length. */
export async function writeObject(
  services: StepServices,
  { bucket, key }: ObjectLocation,
  chunks: AsyncIterable<Uint8Array>,
  bytes: number | null = null,
): Promise<JsonObject> {
  const response = await exchange(services, {
    method: 'POST',
    origin: storageOrigin,
    path: `/upload/storage/v1/b/${bucket}/o?uploadType=media&name=${encodeURIComponent(key)}`,
    headers: ['content-type', 'application/octet-stream'],
    body: chunks,
    bodyBytes: bytes ?? -1,
  });
  return response.json();
}

/** Returns one page of the objects below a prefix, after the key `after` if it is set. */
export async function listObjects(
  services: StepServices,
  bucket: string,
  asked: { readonly prefix: string; readonly limit: number; readonly after?: string | null },
): Promise<{ readonly objects: readonly JsonObject[]; readonly hasMore: boolean }> {
  const query = new URLSearchParams({ prefix: asked.prefix, maxResults: `${asked.limit}` });
  if (asked.after) {
    // The offset itself is part of the page, so one more is requested.
    query.set('startOffset', asked.after);
    query.set('maxResults', `${asked.limit + 1}`);
  }
  const response = await exchange(services, { method: 'GET', origin: storageOrigin, path: `/storage/v1/b/${bucket}/o?${query}` });
  const { items, nextPageToken: token } = await response.json();
  const found = Array.isArray(items) ? items.filter(isObject).filter(({ name }) => name !== asked.after) : [];
  return { objects: found.slice(0, asked.limit), hasMore: typeof token === 'string' || found.length > asked.limit };
}

/** Returns the bytes of an input file from the service's store or the bucket. */
export async function inputFile(
  id: unknown,
  param: string,
  call: OperationCall,
  services: StepServices,
): Promise<AsyncIterable<Uint8Array>> {
  if (isOwnId(id)) return services.ownFile(id as string);
  return (await readObject(services, objectOfId('gs', id, param, bucketIn(call)))).body;
}

function pathOf({ bucket, key }: ObjectLocation): string {
  return `/storage/v1/b/${bucket}/o/${encodeURIComponent(key)}`;
}

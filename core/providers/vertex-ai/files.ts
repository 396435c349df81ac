import { findHeader } from '../../contract/http.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { OperationCall } from '../../contract/provider.ts';
import { idOf } from '../shared/kept-files.ts';
import { keptText } from '../shared/kept-settings.ts';
import {
  fileObject,
  filesFolder,
  idOfObject,
  jsonReply,
  kept,
  keyOfUpload,
  limitOf,
  type ObjectPlace,
  objectOfId,
  secondsOf,
} from '../shared/stored-object.ts';
import { noteOfUpload } from '../shared/upload-note.ts';
import { withUpload } from '../shared/uploaded-file.ts';
import { outputLines } from './batch-lines.ts';
import { bucketIn, bucketOf, describeObject, listObjects, readObject, requireGoogle, writeObject } from './storage.ts';

/** Files in the project's own bucket, as OpenAI's files: an id is the object's address. */
export const uploadFile = kept(async (call, services) => {
  requireGoogle(call);
  const bucket = bucketOf(call);
  return withUpload(call, services, async ({ filename, purpose, bytes, chunks }) => {
    const key = keptText(call, 'provider_file_name') ?? keyOfUpload(purpose, filename, noteOfUpload(call));
    const place = objectOfId('gs', idOfObject('gs', { bucket, key }), 'provider_file_name');
    const written = await writeObject(services, place, chunks, bytes);
    return jsonReply({ ...fileOf(place, written), created_at: call.nowSeconds, purpose, filename });
  });
});

export const listFiles = kept(async (call, services) => {
  requireGoogle(call);
  const bucket = bucketOf(call);
  const asked = new URLSearchParams(call.query);
  const after = asked.get('after');
  const purpose = asked.get('purpose');
  const { objects, hasMore } = await listObjects(services, bucket, {
    prefix: purpose !== null && /^[\w-]{1,64}$/.test(purpose) ? `${filesFolder}${purpose}/` : filesFolder,
    limit: limitOf(asked, 100),
    after: after === null ? null : objectOfId('gs', after, 'after', bucket).key,
  });
  const data = objects.map((object) => fileOf({ bucket, key: String(object.name) }, object));
  return jsonReply({ object: 'list', data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: hasMore });
});

export const retrieveFile = kept(async (call, services) => {
  const place = placeOf(call);
  return jsonReply(fileOf(place, await describeObject(services, place)));
});

/** The bytes; results of a batch that was made here have OpenAI's lines. */
export const retrieveFileContent = kept(async (call, services) => {
  const place = placeOf(call);
  const response = await readObject(services, place);
  const lines = outputLines(place.key, response.body, call);
  const contentType = findHeader(response.headers, 'content-type') ?? 'application/octet-stream';
  return lines
    ? { status: 200, contentType: 'application/jsonl', body: lines }
    : { status: 200, contentType, body: response.body };
});

function placeOf(call: OperationCall): ObjectPlace {
  requireGoogle(call);
  return objectOfId('gs', idOf(call), 'id', bucketIn(call));
}

function fileOf(place: ObjectPlace, object: JsonObject): JsonObject {
  const file = fileObject('gs', place, { bytes: Number(object.size ?? 0), createdAt: secondsOf(object.timeCreated) });
  return { ...file, id: idOfObject('gs', place) };
}

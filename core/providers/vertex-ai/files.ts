import type { OperationCall } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json.ts';
import { idOf } from '../../formats/stored/stored-files.ts';
import {
  askedObjects,
  fileObject,
  idOfObject,
  keyOfUpload,
  type ObjectPlace,
  objectOfId,
} from '../../formats/stored/stored-object.ts';
import { bytesReply, jsonReply, kept, linesReply, listReply, secondsOf } from '../../formats/stored/stored-operation.ts';
import { keptText } from '../../formats/stored/stored-settings.ts';
import { noteOfUpload } from '../../formats/stored/upload-note.ts';
import { withUpload } from '../../formats/stored/uploaded-file.ts';
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
  const { objects, hasMore } = await listObjects(services, bucket, askedObjects('gs', call, bucket));
  const data = objects.map((object) => fileOf({ bucket, key: String(object.name) }, object));
  return listReply(data, hasMore);
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
  return lines ? linesReply(lines) : bytesReply(response);
});

function placeOf(call: OperationCall): ObjectPlace {
  requireGoogle(call);
  return objectOfId('gs', idOf(call), 'id', bucketIn(call));
}

function fileOf(place: ObjectPlace, object: JsonObject): JsonObject {
  const file = fileObject('gs', place, { bytes: Number(object.size ?? 0), createdAt: secondsOf(object.timeCreated) });
  return { ...file, id: idOfObject('gs', place) };
}

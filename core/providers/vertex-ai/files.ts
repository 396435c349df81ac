import type { JsonObject } from '../../contract/json.ts';
import type { OperationCall } from '../../contract/provider.ts';
import { idOf } from '../shared/kept-files.ts';
import { bytesReply, jsonReply, kept, linesReply, listReply, secondsOf } from '../shared/kept-operation.ts';
import { keptText } from '../shared/kept-settings.ts';
import { askedObjects, fileObject, idOfObject, keyOfUpload, type ObjectPlace, objectOfId } from '../shared/stored-object.ts';
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

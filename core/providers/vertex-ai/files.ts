import type { OperationCall } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json.ts';
import { idOf } from '../../formats/stored/stored-files.ts';
import {
  askedObjects,
  fileObject,
  idOfObject,
  keyOfUpload,
  type ObjectLocation,
  objectOfId,
} from '../../formats/stored/stored-object.ts';
import {
  bytesReply,
  jsonReply,
  linesReply,
  listReply,
  secondsOf,
  storedOperation,
} from '../../formats/stored/stored-operation.ts';
import { storedText } from '../../formats/stored/stored-settings.ts';
import { noteOfUpload } from '../../formats/stored/upload-note.ts';
import { withUpload } from '../../formats/stored/uploaded-file.ts';
import { outputLines } from './batch-lines.ts';
import { bucketIn, bucketOf, describeObject, listObjects, readObject, requireGoogle, writeObject } from './storage.ts';

/** Files in the project's own bucket in the form of OpenAI's files. The id of a file is the object's address. */
export const uploadFile = storedOperation(async (call, services) => {
  requireGoogle(call);
  const bucket = bucketOf(call);
  return withUpload(call, services, async ({ filename, purpose, bytes, chunks }) => {
    const key = storedText(call, 'provider_file_name') ?? keyOfUpload(purpose, filename, noteOfUpload(call));
    const location = objectOfId('gs', idOfObject('gs', { bucket, key }), 'provider_file_name');
    const written = await writeObject(services, location, chunks, bytes);
    return jsonReply({ ...fileOf(location, written), created_at: call.nowSeconds, purpose, filename });
  });
});

export const listFiles = storedOperation(async (call, services) => {
  requireGoogle(call);
  const bucket = bucketOf(call);
  const { objects, hasMore } = await listObjects(services, bucket, askedObjects('gs', call, bucket));
  const data = objects.map((object) => fileOf({ bucket, key: String(object.name) }, object));
  return listReply(data, hasMore);
});

export const retrieveFile = storedOperation(async (call, services) => {
  const location = locationOf(call);
  return jsonReply(fileOf(location, await describeObject(services, location)));
});

/** Returns the bytes. Results of a batch that the gateway created have OpenAI's lines. */
export const retrieveFileContent = storedOperation(async (call, services) => {
  const location = locationOf(call);
  const response = await readObject(services, location);
  const lines = outputLines(location.key, response.body, call);
  return lines ? linesReply(lines) : bytesReply(response);
});

function locationOf(call: OperationCall): ObjectLocation {
  requireGoogle(call);
  return objectOfId('gs', idOf(call), 'id', bucketIn(call));
}

function fileOf(location: ObjectLocation, object: JsonObject): JsonObject {
  const file = fileObject('gs', location, { bytes: Number(object.size ?? 0), createdAt: secondsOf(object.timeCreated) });
  return { ...file, id: idOfObject('gs', location) };
}

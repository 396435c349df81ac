import type { JsonObject } from '../../contract/values/json/json.ts';
import { bucketFiles, type ObjectFacts } from '../../formats/stored/bucket-files.ts';
import { secondsOf } from '../../formats/stored/stored-operation.ts';
import { storedText } from '../../formats/stored/stored-settings.ts';
import { noteOfUpload } from '../../formats/stored/upload-note.ts';
import { outputLines } from './batch-lines.ts';
import { bucketIn, bucketOf, describeObject, listObjects, readObject, requireGoogle, writeObject } from './storage.ts';

export const { uploadFile, listFiles, retrieveFile, retrieveFileContent } = bucketFiles({
  scheme: 'gs',
  check: requireGoogle,
  bucketOf,
  bucketIn,
  keySetting: 'provider_file_name',
  keyIn: (call) => storedText(call, 'provider_file_name'),
  noteOf: (call) => noteOfUpload(call),
  async write(_call, services, location, { chunks, bytes }) {
    return factsOf(await writeObject(services, location, chunks, bytes)).bytes;
  },
  async list(_call, services, bucket, asked) {
    const { objects, hasMore } = await listObjects(services, bucket, asked);
    return { objects: objects.map((object) => ({ key: String(object.name), ...factsOf(object) })), hasMore };
  },
  async describe(_call, services, location) {
    return factsOf(await describeObject(services, location));
  },
  read: (_call, services, location) => readObject(services, location),
  linesOf: outputLines,
});

function factsOf({ size, timeCreated }: JsonObject): ObjectFacts {
  return { bytes: Number(size ?? 0), createdAt: secondsOf(timeCreated) };
}

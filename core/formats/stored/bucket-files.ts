import type { Operation, OperationCall, StepResponse, StepServices } from '../../contract/provider/provider.ts';
import { idOf } from './stored-files.ts';
import { askedObjects, fileObject, idOfObject, keyOfUpload, type ObjectLocation, objectOfId } from './stored-object.ts';
import { bytesReply, jsonReply, linesReply, listReply, storedOperation } from './stored-operation.ts';
import { type UploadedFile, withUpload } from './uploaded-file.ts';

/** Size and age of an object. `createdAt` in seconds; null if unknown. */
export interface ObjectFacts {
  readonly bytes: number;
  readonly createdAt: number | null;
}

/** Storage of a cloud. */
export interface BucketStore {
  readonly scheme: 's3' | 'gs';
  /** Throws `invalid_config` if files cannot be used with the settings of the call. */
  check(call: OperationCall): void;
  /** Returns the bucket of the settings. Throws `invalid_config` if none is set. */
  bucketOf(call: OperationCall): string;
  /** Returns the bucket of the settings, or null. */
  bucketIn(call: OperationCall): string | null;
  /** Setting that names the key of an upload, for errors. */
  readonly keySetting: string;
  /** Returns the key that the settings give to an upload, or null. */
  keyIn(call: OperationCall): string | null;
  /** Returns the part of new keys that `readUploadNote` reads. */
  noteOf(call: OperationCall): string;
  /** Writes an upload. Returns its size. */
  write(call: OperationCall, services: StepServices, location: ObjectLocation, upload: UploadedFile): Promise<number>;
  /** Returns one page of objects. */
  list(
    call: OperationCall,
    services: StepServices,
    bucket: string,
    asked: ReturnType<typeof askedObjects>,
  ): Promise<{ readonly objects: readonly (ObjectFacts & { readonly key: string })[]; readonly hasMore: boolean }>;
  describe(call: OperationCall, services: StepServices, location: ObjectLocation): Promise<ObjectFacts>;
  read(call: OperationCall, services: StepServices, location: ObjectLocation): Promise<StepResponse>;
  /** Returns the lines of a batch's results in OpenAI's form. Null for other objects. */
  linesOf(key: string, results: AsyncIterable<Uint8Array>, call: OperationCall): AsyncIterable<Uint8Array> | null;
}

/** Operations on files in the account's own bucket in the form of OpenAI's files. The id of a file is the object's address. */
export interface BucketFiles {
  readonly uploadFile: Operation;
  readonly listFiles: Operation;
  readonly retrieveFile: Operation;
  readonly retrieveFileContent: Operation;
  /** The location that the path of a call names. */
  locationOf(call: OperationCall): ObjectLocation;
}

/** Returns the operations on files in a cloud's storage. */
export function bucketFiles(store: BucketStore): BucketFiles {
  const { scheme } = store;
  const locationOf = (call: OperationCall): ObjectLocation => {
    store.check(call);
    return objectOfId(scheme, idOf(call), 'id', store.bucketIn(call));
  };
  return {
    locationOf,
    uploadFile: storedOperation(async (call, services) => {
      store.check(call);
      const bucket = store.bucketOf(call);
      return withUpload(call, services, async (upload) => {
        const { filename, purpose } = upload;
        const key = store.keyIn(call) ?? keyOfUpload(purpose, filename, store.noteOf(call));
        const location = objectOfId(scheme, idOfObject(scheme, { bucket, key }), store.keySetting);
        const bytes = await store.write(call, services, location, upload);
        return jsonReply({ ...fileObject(scheme, location, { bytes, createdAt: call.nowSeconds }), purpose, filename });
      });
    }),
    listFiles: storedOperation(async (call, services) => {
      store.check(call);
      const bucket = store.bucketOf(call);
      const { objects, hasMore } = await store.list(call, services, bucket, askedObjects(scheme, call, bucket));
      return listReply(
        objects.map((object) => fileObject(scheme, { bucket, key: object.key }, object)),
        hasMore,
      );
    }),
    retrieveFile: storedOperation(async (call, services) => {
      const location = locationOf(call);
      return jsonReply(fileObject(scheme, location, await store.describe(call, services, location)));
    }),
    // Results of a batch that the gateway created have OpenAI's lines.
    retrieveFileContent: storedOperation(async (call, services) => {
      const location = locationOf(call);
      const response = await store.read(call, services, location);
      const lines = store.linesOf(location.key, response.body, call);
      return lines ? linesReply(lines) : bytesReply(response);
    }),
  };
}

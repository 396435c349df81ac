import type { OperationCall } from '../../contract/provider/provider.ts';
import { findHeader } from '../../contract/values/http.ts';
import type { JsonObject } from '../../contract/values/json.ts';
import { idOf } from '../../formats/stored/stored-files.ts';
import {
  askedObjects,
  fileObject,
  idOfObject,
  keyOfUpload,
  type ObjectLocation,
  objectOfId,
  strictly,
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
import { outputLines } from './batch-output.ts';
import { requireAws } from './jobs.ts';
import { bucketOf, callStorage, putObject, tagIn, tagsIn, textOf } from './storage.ts';

/** Files in the account's own bucket in the form of OpenAI's files. The id of a file is the object's address. */
export const uploadFile = storedOperation(async (call, services) => {
  requireAws(call);
  const bucket = bucketOf(call);
  return withUpload(call, services, async ({ filename, purpose, chunks }) => {
    const given = call.settings.aws_s3_object_key ?? storedText(call, 'provider_file_name');
    const key =
      typeof given === 'string' ? given : keyOfUpload(purpose, filename, noteOfUpload(call, call.settings.aws_bedrock_model));
    const location = objectOfId('s3', idOfObject('s3', { bucket, key }), 'aws_s3_object_key');
    const bytes = await putObject(call, services, location, chunks);
    return jsonReply({ ...fileObject('s3', location, { bytes, createdAt: call.nowSeconds }), purpose, filename });
  });
});

export const listFiles = storedOperation(async (call, services) => {
  requireAws(call);
  const bucket = bucketOf(call);
  const { prefix, limit, after } = askedObjects('s3', call, bucket);
  const start = after === null ? '' : `&start-after=${strictly(after)}`;
  const query = `list-type=2&max-keys=${limit}&prefix=${strictly(prefix)}${start}`;
  const xml = await textOf(await callStorage(call, services, { method: 'GET', bucket, query }));
  const data = tagBlocks(xml).map((block) =>
    fileObject(
      's3',
      { bucket, key: tagIn(block, 'Key') ?? '' },
      {
        bytes: Number(tagIn(block, 'Size') ?? 0),
        createdAt: secondsOf(tagIn(block, 'LastModified')),
      },
    ),
  );
  const hasMore = tagsIn(xml, 'IsTruncated')[0] === 'true';
  return listReply(data, hasMore);
});

export const retrieveFile = storedOperation(async (call, services) => {
  const location = locationOf(call);
  const response = await callStorage(call, services, { method: 'HEAD', ...location });
  const bytes = Number(findHeader(response.headers, 'content-length') ?? 0);
  const changed = Date.parse(findHeader(response.headers, 'last-modified') ?? '');
  response.cancel();
  return jsonReply(fileObject('s3', location, { bytes, createdAt: Number.isNaN(changed) ? null : Math.floor(changed / 1000) }));
});

/** Returns the bytes. Results of a batch that the gateway created have OpenAI's lines. */
export const retrieveFileContent = storedOperation(async (call, services) => {
  const location = locationOf(call);
  const response = await callStorage(call, services, { method: 'GET', ...location });
  const lines = outputLines(location.key, response.body, call);
  return lines ? linesReply(lines) : bytesReply(response);
});

export const deleteFile = storedOperation(async (call, services) => {
  const location = locationOf(call);
  (await callStorage(call, services, { method: 'DELETE', ...location })).cancel();
  return jsonReply({ id: idOfObject('s3', location), object: 'file', deleted: true } satisfies JsonObject);
});

function locationOf(call: OperationCall): ObjectLocation {
  requireAws(call);
  const bucket = call.settings.aws_s3_bucket;
  return objectOfId('s3', idOf(call), 'id', typeof bucket === 'string' ? bucket : null);
}

function tagBlocks(xml: string): string[] {
  return [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, block]) => block as string);
}

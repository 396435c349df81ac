import { findHeader } from '../../../contract/values/http/http.ts';
import { bucketFiles } from '../../../formats/stored/bucket-files.ts';
import { idOfObject, strictly } from '../../../formats/stored/stored-object.ts';
import { jsonReply, secondsOf, storedOperation } from '../../../formats/stored/stored-operation.ts';
import { storedText } from '../../../formats/stored/stored-settings.ts';
import { noteOfUpload } from '../../../formats/stored/upload-note.ts';
import { outputLines } from './batch-output.ts';
import { requireAws } from './jobs.ts';
import { bucketOf, callStorage, putObject, tagIn, tagsIn, textOf } from './storage.ts';

const files = bucketFiles({
  scheme: 's3',
  check: requireAws,
  bucketOf,
  bucketIn: ({ settings }) => (typeof settings.aws_s3_bucket === 'string' ? settings.aws_s3_bucket : null),
  keySetting: 'aws_s3_object_key',
  keyIn(call) {
    const key = call.settings.aws_s3_object_key ?? storedText(call, 'provider_file_name');
    return typeof key === 'string' ? key : null;
  },
  noteOf: (call) => noteOfUpload(call, call.settings.aws_bedrock_model),
  write: (call, services, location, { chunks }) => putObject(call, services, location, chunks),
  async list(call, services, bucket, { prefix, limit, after }) {
    const start = after === null ? '' : `&start-after=${strictly(after)}`;
    const query = `list-type=2&max-keys=${limit}&prefix=${strictly(prefix)}${start}`;
    const xml = await textOf(await callStorage(call, services, { method: 'GET', bucket, query }));
    const objects = xml
      .split('</Contents>')
      .slice(0, -1)
      .map((block) => ({
        key: tagIn(block, 'Key') ?? '',
        bytes: Number(tagIn(block, 'Size') ?? 0),
        createdAt: secondsOf(tagIn(block, 'LastModified')),
      }));
    return { objects, hasMore: tagsIn(xml, 'IsTruncated')[0] === 'true' };
  },
  async describe(call, services, location) {
    const response = await callStorage(call, services, { method: 'HEAD', ...location });
    const bytes = Number(findHeader(response.headers, 'content-length') ?? 0);
    const changed = Date.parse(findHeader(response.headers, 'last-modified') ?? '');
    response.cancel();
    return { bytes, createdAt: Number.isNaN(changed) ? null : Math.floor(changed / 1000) };
  },
  read: (call, services, location) => callStorage(call, services, { method: 'GET', ...location }),
  linesOf: outputLines,
});

export const { uploadFile, listFiles, retrieveFile, retrieveFileContent } = files;

export const deleteFile = storedOperation(async (call, services) => {
  const location = files.locationOf(call);
  (await callStorage(call, services, { method: 'DELETE', ...location })).cancel();
  return jsonReply({ id: idOfObject('s3', location), object: 'file', deleted: true });
});

import { expect, it } from 'vitest';
import type { OperationCall, StepRequest, StepResponse, StepServices } from '../../../../../core/contract/provider/provider.ts';
import { putObject } from '../../../../../core/providers/bedrock/stored/storage.ts';
import { patternBytes } from '../../../../support/samples/pattern-bytes.ts';

/** Long objects in S3: parts are sent while the file arrives, and no incomplete object remains. */
const call = { settings: { aws_region: 'eu-central-1' } } as unknown as OperationCall;
const location = { bucket: 'my-bucket', key: 'a b.jsonl' };
const bytes = patternBytes(17 * 1024 * 1024 + 5);

async function* inChunks() {
  for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000);
}

function storage(replies: (request: StepRequest) => { status?: number; headers?: string[]; text?: string }) {
  const requests: StepRequest[] = [];
  const send = async (request: StepRequest): Promise<StepResponse> => {
    requests.push(request);
    const { status = 200, headers = [], text = '' } = replies(request);
    const body = (async function* () {
      yield Buffer.from(text);
    })();
    return { status, headers, body, json: async () => ({}), cancel: () => {} };
  };
  const error = async (response: StepResponse) => new Error(`refused ${response.status}`) as never;
  return { requests, services: { send, error } as unknown as StepServices };
}

const slowDown = '<Error><Code>SlowDown</Code><Message>Please reduce your rate.</Message></Error>';
const opened = { text: '<R><UploadId>u&amp;1/2</UploadId></R>' };

it('Bedrock storage: a long object is written in complete parts in order', async () => {
  const { requests, services } = storage(({ path }) => {
    if (path.endsWith('?uploads=')) return opened;
    return path.includes('partNumber=') ? { headers: ['etag', `"tag<${path.match(/partNumber=(\d)/)?.[1]}"`] } : {};
  });
  expect(await putObject(call, services, location, inChunks())).toBe(bytes.length);
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /my-bucket/a%20b.jsonl?uploads=',
    'PUT /my-bucket/a%20b.jsonl?partNumber=1&uploadId=u%261%2F2',
    'PUT /my-bucket/a%20b.jsonl?partNumber=2&uploadId=u%261%2F2',
    'PUT /my-bucket/a%20b.jsonl?partNumber=3&uploadId=u%261%2F2',
    'POST /my-bucket/a%20b.jsonl?uploadId=u%261%2F2',
  ]);
  const parts = requests.slice(1, 4).map(({ body }) => body as Uint8Array);
  expect(Buffer.concat(parts).equals(bytes)).toBe(true);
  expect(Buffer.from(requests[4]?.body as Uint8Array).toString()).toBe(
    '<CompleteMultipartUpload>' +
      [1, 2, 3].map((n) => `<Part><PartNumber>${n}</PartNumber><ETag>&quot;tag&lt;${n}&quot;</ETag></Part>`).join('') +
      '</CompleteMultipartUpload>',
  );
});

it.each([
  [
    'Bedrock storage: a rejected part aborts the upload',
    (path: string) => (path.includes('partNumber=2') ? { status: 503, text: slowDown } : {}),
    'reduce your rate. (SlowDown)',
  ],
  [
    'the end fails under a status of 200',
    (path: string) => (path.includes('?uploadId=') ? { text: '<Error><Message>slow down</Message></Error>' } : {}),
    'slow down',
  ],
])('Bedrock storage: written parts are removed if %s', async (_, replies, message) => {
  const { requests, services } = storage(({ method, path }) => {
    if (path.endsWith('?uploads=')) return opened;
    return method === 'DELETE' ? { status: 204 } : replies(path);
  });
  await expect(putObject(call, services, location, inChunks())).rejects.toThrow(message);
  expect(requests.at(-1)).toMatchObject({ method: 'DELETE', path: '/my-bucket/a%20b.jsonl?uploadId=u%261%2F2' });
});

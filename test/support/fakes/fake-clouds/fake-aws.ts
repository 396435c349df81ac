import { createHash } from 'node:crypto';
import type { Cloud, CloudReply, CloudRequest, LooseObject } from './fake-clouds.ts';
import { type Secrets, signatureError } from './sigv4.ts';

/** S3 and Bedrock's batches in one region of one account, for callers with a valid signature. */
export interface FakeAws {
  readonly clouds: Readonly<Record<string, Cloud>>;
  /** Objects by `bucket/key`. */
  readonly objects: Map<string, Buffer>;
  /** Completes a job: writes its output from its input lines. */
  runJobs(reply: (input: LooseObject) => LooseObject): void;
}

export function fakeAws(region: string, secrets: Secrets): FakeAws {
  const objects = new Map<string, Buffer>();
  const uploads = new Map<string, Map<number, Buffer>>();
  const jobs = new Map<string, LooseObject>();

  const signed =
    (service: string, cloud: Cloud): Cloud =>
    (request) => {
      const error = signatureError(request, service, region, secrets);
      if (error === null) return cloud(request);
      return service === 's3' ? xmlError(403, error) : { status: 403, body: { message: error } };
    };

  const s3: Cloud = (request) => {
    const [bucket = '', ...rest] = decodeURIComponent(request.path).slice(1).split('/');
    const location = `${bucket}/${rest.join('/')}`;
    const query = new URLSearchParams(request.query);
    if (query.get('list-type') === '2') return listed(bucket, query);
    if (query.has('uploads') || query.has('uploadId')) return inParts(request, location, query);
    const object = objects.get(location);
    switch (request.method) {
      case 'PUT':
        objects.set(location, request.body);
        return { status: 200, headers: { etag: etagOf(request.body) } };
      case 'DELETE':
        objects.delete(location);
        return { status: 204 };
      default:
        if (!object) return xmlError(404, 'NoSuchKey');
        return { status: 200, headers: { 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' }, body: object };
    }
  };

  function listed(bucket: string, query: URLSearchParams): CloudReply {
    const from = query.get('start-after') ?? '';
    const keys = [...objects.keys()]
      .filter((location) => location.startsWith(`${bucket}/${query.get('prefix') ?? ''}`))
      .map((location) => location.slice(bucket.length + 1))
      .filter((key) => key > from)
      .sort();
    const max = Number(query.get('max-keys'));
    const contents = keys.slice(0, max).map((key) => {
      const size = objects.get(`${bucket}/${key}`)?.length;
      return `<Contents><Key>${key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>${size}</Size></Contents>`;
    });
    return {
      status: 200,
      body: `<ListBucketResult><IsTruncated>${keys.length > max}</IsTruncated>${contents.join('')}</ListBucketResult>`,
    };
  }

  function inParts(request: CloudRequest, location: string, query: URLSearchParams): CloudReply {
    if (query.has('uploads')) {
      const id = `upload-${uploads.size}`;
      uploads.set(id, new Map());
      return { status: 200, body: `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>` };
    }
    const parts = uploads.get(query.get('uploadId') ?? '');
    if (!parts) return xmlError(404, 'NoSuchUpload');
    if (request.method === 'PUT') {
      parts.set(Number(query.get('partNumber')), request.body);
      return { status: 200, headers: { etag: etagOf(request.body) } };
    }
    const asked = [...request.body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>&quot;(\w+)&quot;<\/ETag>/g)];
    const bodies = asked.map(([, number, tag]) => {
      const part = parts.get(Number(number));
      return part && etagOf(part) === `"${tag}"` ? part : null;
    });
    if (bodies.length !== parts.size || bodies.includes(null)) return xmlError(400, 'InvalidPart');
    objects.set(location, Buffer.concat(bodies as Buffer[]));
    return { status: 200, body: '<CompleteMultipartUploadResult></CompleteMultipartUploadResult>' };
  }

  const bedrock: Cloud = ({ method, path, body }) => {
    const [, collection, arn] = path.split('/').map(decodeURIComponent);
    if (method === 'POST' && collection === 'model-invocation-job' && arn === undefined) {
      const id = `abcdefghij${String(jobs.size).padStart(2, '0')}`;
      const jobArn = `arn:aws:bedrock:${region}:123456789012:model-invocation-job/${id}`;
      const made = { ...JSON.parse(body.toString()), jobArn, status: 'Submitted', submitTime: '2026-01-01T00:00:00Z' };
      jobs.set(jobArn, made);
      return { status: 200, body: { jobArn } };
    }
    const job = jobs.get(arn ?? '');
    return job ? { status: 200, body: job } : { status: 404, body: { message: 'no such job' } };
  };

  return {
    clouds: {
      [`s3.${region}.amazonaws.com`]: signed('s3', s3),
      [`bedrock.${region}.amazonaws.com`]: signed('bedrock', bedrock),
    },
    objects,
    runJobs(reply) {
      for (const [arn, job] of jobs) {
        const input = job.inputDataConfig.s3InputDataConfig.s3Uri.slice('s3://'.length);
        const output = job.outputDataConfig.s3OutputDataConfig.s3Uri.slice('s3://'.length);
        const lines = linesOf(objects.get(input)).map(({ recordId, modelInput }) => ({
          recordId,
          modelInput,
          modelOutput: reply(modelInput),
        }));
        const location = `${output}${arn.split('/').at(-1)}/${input.split('/').at(-1)}.out`;
        objects.set(location, Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join('')));
        Object.assign(job, { status: 'Completed', endTime: '2026-01-01T01:00:00Z' });
        Object.assign(job, { totalRecordCount: lines.length, successRecordCount: lines.length, errorRecordCount: 0 });
      }
    },
  };
}

/** Returns lines of JSON as objects. */
export function linesOf(bytes: Uint8Array | undefined): LooseObject[] {
  const text = Buffer.from(bytes ?? []).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

function etagOf(body: Uint8Array): string {
  return `"${createHash('md5').update(body).digest('hex')}"`;
}

function xmlError(status: number, code: string): CloudReply {
  return { status, body: `<Error><Code>${code}</Code><Message>${code}</Message></Error>` };
}

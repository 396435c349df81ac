import type { OperationCall, ProviderSettings, StepResponse, StepServices } from '../../../contract/provider/provider.ts';
import { ChunkList } from '../../../contract/values/bodies/chunk-list.ts';
import { GatewayError } from '../../../contract/values/errors/errors.ts';
import { findHeader, type HeaderList } from '../../../contract/values/http/http.ts';
import { encodedKey, type ObjectLocation, strictly } from '../../../formats/stored/stored-object.ts';
import { storageOrigin } from '../auth.ts';

/** Bytes of one part. An object with S3's maximum of 10,000 parts can then have 80 GB. A smaller file is one PutObject. */
const partBytes = 8 * 1024 * 1024;

/** `aws_s3_bucket`. Throws `invalid_config` if it is missing. */
export function bucketOf({ settings }: OperationCall): string {
  if (typeof settings.aws_s3_bucket === 'string') return settings.aws_s3_bucket;
  throw new GatewayError('invalid_config', {
    message: 'files of bedrock are stored in S3. Set the bucket in x-svc-aws-s3-bucket',
    param: 'aws_s3_bucket',
  });
}

/** Makes one call to S3 (docs.aws.amazon.com/AmazonS3/latest/API). Throws `upstream_status` for an error. */
export async function callStorage(
  call: OperationCall,
  services: StepServices,
  request: {
    readonly method: string;
    readonly bucket: string;
    readonly key?: string;
    readonly query?: string;
    readonly headers?: HeaderList;
    readonly body?: Uint8Array | null;
  },
): Promise<StepResponse> {
  const { method, bucket, key, query, headers, body } = request;
  const response = await services.send({
    method,
    ...addressOf(call, bucket, key, query),
    headers: [...(headers ?? [])],
    body: body ?? null,
  });
  if (response.status >= 300) throw await storageError(services, response);
  return response;
}

/** Returns the bytes of an object. Null if it does not exist or may not be read. */
export async function readIfThere(
  call: OperationCall,
  services: StepServices,
  location: ObjectLocation,
): Promise<AsyncIterable<Uint8Array> | null> {
  const response = await services.send({ method: 'GET', ...addressOf(call, location.bucket, location.key) });
  if (response.status < 300) return response.body;
  response.cancel();
  return null;
}

/** Converts an S3 error in XML to an error of the provider. Errors of HEAD requests have no body. */
async function storageError(services: StepServices, response: StepResponse): Promise<GatewayError> {
  const { status } = response;
  const xml = await textOf(response);
  const message = tagIn(xml, 'Message');
  if (message !== null) {
    return new GatewayError('upstream_status', {
      status,
      message: `bedrock error: S3: ${message} (${tagIn(xml, 'Code') ?? status})`,
    });
  }
  if (xml === '') return new GatewayError('upstream_status', { status, message: `bedrock error: S3 responded with ${status}` });
  return services.error({ ...response, body: once(xml) });
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/**
 * Writes an object of any length while it is read. A long one is written in parts, which are removed if writing fails. Returns
 * its number of bytes.
 */
export async function putObject(
  call: OperationCall,
  services: StepServices,
  location: ObjectLocation,
  chunks: AsyncIterable<Uint8Array>,
): Promise<number> {
  const headers = ['content-type', 'application/octet-stream', ...encryption(call.settings)];
  const parts = inParts(chunks);
  const first = await parts.next();
  const second = await parts.next();
  if (second.done) {
    const body = first.done ? new Uint8Array(0) : first.value;
    (await callStorage(call, services, { method: 'PUT', ...location, headers, body })).cancel();
    return body.length;
  }
  // An empty body can be signed. A missing body counts as one that was not read.
  const body = new Uint8Array(0);
  const opened = await callStorage(call, services, { method: 'POST', ...location, query: 'uploads=', headers, body });
  const upload = `uploadId=${strictly(tagIn(await textOf(opened), 'UploadId') ?? '')}`;
  try {
    const tags: string[] = [];
    let size = 0;
    for await (const part of beginningWith([first.value as Uint8Array, second.value], parts)) {
      const query = `partNumber=${tags.length + 1}&${upload}`;
      const written = await callStorage(call, services, { method: 'PUT', ...location, query, body: part });
      tags.push(findHeader(written.headers, 'etag') ?? '');
      written.cancel();
      size += part.length;
    }
    const list = tags.map((tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escaped(tag)}</ETag></Part>`);
    const body = Buffer.from(`<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`);
    const done = await callStorage(call, services, {
      method: 'POST',
      ...location,
      query: upload,
      headers: ['content-type', 'application/xml'],
      body,
    });
    // S3 reports errors that occur after the response header was sent with status 200.
    const text = await textOf(done);
    const error = tagIn(text, 'Message');
    if (text.includes('<Error>'))
      throw new GatewayError('upstream_invalid', { message: `bedrock: S3: ${error ?? 'not written'}` });
    return size;
  } catch (thrown) {
    await callStorage(call, services, { method: 'DELETE', ...location, query: upload }).then(
      (response) => response.cancel(),
      () => {},
    );
    throw thrown;
  }
}

function addressOf({ settings }: OperationCall, bucket: string, key?: string, query?: string): { origin: string; path: string } {
  const path = `/${bucket}${key === undefined ? '' : `/${encodedKey(key)}`}${query ? `?${query}` : ''}`;
  return { origin: storageOrigin(settings), path };
}

/** Returns the texts of the elements of this name in S3's XML, entities resolved. */
export function tagsIn(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, text]) => unescaped(text as string));
}

/** Returns the first of them. Null for none. */
export function tagIn(xml: string, name: string): string | null {
  return tagsIn(xml, name)[0] ?? null;
}

/** Returns a short reply of S3 as text. */
export async function textOf(response: StepResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function encryption(settings: ProviderSettings): HeaderList {
  const { amz_server_side_encryption: kind, amz_server_side_encryption_aws_kms_key_id: key } = settings;
  return [
    ...(typeof kind === 'string' ? ['x-amz-server-side-encryption', kind] : []),
    ...(typeof key === 'string' ? ['x-amz-server-side-encryption-aws-kms-key-id', key] : []),
  ];
}

async function* inParts(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const held = new ChunkList();
  for await (const chunk of chunks) {
    held.push(chunk);
    if (held.bytes < partBytes) continue;
    yield held.concat();
    held.take();
  }
  if (held.bytes > 0) yield held.concat();
}

async function* beginningWith(first: readonly Uint8Array[], rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* first;
  yield* rest;
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(?:#(\d+)|(amp|lt|gt|quot|apos));/g, (_, code, name) =>
    code === undefined ? (entities[name] as string) : String.fromCodePoint(Math.min(Number(code), 0x10ffff)),
  );
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

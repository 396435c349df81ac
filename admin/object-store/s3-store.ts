import { setTimeout as sleep } from 'node:timers/promises';
import { awsOrigin } from '../../core/cloud-auth/aws-region.ts';
import { type AwsIdentity, awsSigned } from '../../core/cloud-auth/aws-sign.ts';
import { type HeaderList, headerPairs } from '../../core/contract/values/http/http.ts';
import { fetchReasonOf, type OutboundFetch } from '../outbound-fetch.ts';
import { type ObjectStore, ObjectStoreError } from './object-store.ts';
import { createS3Identity, type ObjectStoreSettings } from './s3-identity.ts';

const attemptsMax = 3;
const pauseMs = 200;
/** Time limit of one attempt; a large body adds to it. */
const attemptMs = 4_000;
const bytesPerMs = 1_024;
/** An error document is short. */
const errorCharsMax = 4_096;

interface Call {
  readonly method: 'PUT' | 'GET' | 'DELETE';
  readonly key: string;
  readonly headers?: HeaderList;
  readonly body?: Uint8Array;
  /** Bytes that the response may have. */
  readonly responseBytes?: number;
}

interface Reply {
  readonly status: number;
  readonly bytes: Uint8Array;
}

/**
 * Stores objects in a bucket of Amazon S3 or a compatible server. The server verifies the SHA-256 of every object that it receives. The
 * operator has chosen the address, so private ones are allowed; redirects are not followed.
 */
export function createS3Store(settings: ObjectStoreSettings, location: URL, fetch: OutboundFetch): ObjectStore {
  const { s3Region: region, s3PathStyle } = settings;
  const bucket = location.host;
  const prefix = location.pathname === '/' ? '' : location.pathname;
  const server = new URL(settings.s3Endpoint ?? awsOrigin('s3', region));
  const origin = s3PathStyle ? server.origin : `${server.protocol}//${bucket}.${server.host}`;
  const start = `${server.pathname === '/' ? '' : server.pathname}${s3PathStyle ? `/${bucket}` : ''}${prefix}`;
  const identity = createS3Identity(settings, fetch);

  async function send(call: Call): Promise<Reply> {
    for (let attempt = 1; ; attempt++) {
      const result = await identity()
        .then((as) => sendOnce(call, as))
        .catch(fetchReasonOf);
      const isTemporary = typeof result === 'string' || result.status >= 500 || result.status === 429;
      if (!isTemporary) return result;
      if (attempt === attemptsMax) throw failed(call, typeof result === 'string' ? result : describe(result));
      await sleep(pauseMs * 2 ** (attempt - 1) * (0.5 + Math.random()));
    }
  }

  async function sendOnce({ method, key, headers = [], body, responseBytes = 0 }: Call, as: AwsIdentity): Promise<Reply> {
    const path = `${start}/${key}`;
    const signed = await awsSigned({ method, origin, path, headers, body: body ?? null }, as, {
      ...{ service: 's3', region, nowMs: Date.now() },
    });
    const response = await fetch(origin + path, {
      method,
      headers: headerPairs(signed),
      redirect: 'manual',
      signal: AbortSignal.timeout(attemptMs + Math.ceil(((body?.length ?? 0) + responseBytes) / bytesPerMs)),
      ...(body ? { body: body as Uint8Array<ArrayBuffer> } : {}),
    });
    return { status: response.status, bytes: new Uint8Array(await response.arrayBuffer()) };
  }

  return {
    async put(key, bytes) {
      const call: Call = { method: 'PUT', key, body: bytes, headers: ['content-type', 'application/octet-stream'] };
      const reply = await send(call);
      if (reply.status !== 200) throw failed(call, describe(reply));
    },
    async get(key, range) {
      const headers = range ? ['range', `bytes=${range.offset}-${range.offset + range.length - 1}`] : [];
      const call: Call = { method: 'GET', key, headers, responseBytes: range?.length ?? wholeObjectBytes };
      const reply = await send(call);
      if (isMissing(reply)) return null;
      if (range && reply.status === 200) return reply.bytes.subarray(range.offset, range.offset + range.length);
      if (reply.status !== 200 && reply.status !== 206) throw failed(call, describe(reply));
      return reply.bytes;
    },
    async remove(key) {
      const call: Call = { method: 'DELETE', key };
      const reply = await send(call);
      if (reply.status !== 204 && reply.status !== 200 && !isMissing(reply)) throw failed(call, describe(reply));
    },
  };
}

/** Expected size of an object that is read whole; gives the time limit. */
const wholeObjectBytes = 16 * 1024 * 1024;

/** True if the bucket exists and has no such object. A missing bucket and a server without this path are also 404. */
function isMissing(reply: Reply): boolean {
  return reply.status === 404 && codeOf(reply) === 'NoSuchKey';
}

/**
 * The status, and the code of the XML document if there is one: the rest of it may name accounts. Amazon S3 names the region of the bucket if the
 * request was signed for another one.
 */
function describe(reply: Reply): string {
  const code = codeOf(reply);
  const region = /<Region>([a-z0-9-]{1,40})<\/Region>/.exec(textOf(reply))?.[1];
  return `status ${reply.status}${code ? ` (${code})` : ''}${region ? `. The bucket is in ${region}: set S3_REGION to it` : ''}`;
}

function codeOf(reply: Reply): string | undefined {
  return /<Code>([A-Za-z0-9.]{1,100})<\/Code>/.exec(textOf(reply))?.[1];
}

function textOf({ bytes }: Reply): string {
  return Buffer.from(bytes).toString('utf8', 0, errorCharsMax);
}

function failed({ method, key }: Call, reason: string): ObjectStoreError {
  return new ObjectStoreError(`OBJECT_STORE: ${method} ${key} failed: ${reason}`);
}

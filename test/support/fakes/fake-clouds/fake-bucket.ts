import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { signatureError } from './sigv4.ts';

/**
 * Failures of the server: `cut` ends the connection, `busy` is status 503, `denied` is status 403, `silent` never replies, `elsewhere` is the 404
 * of a server that stores no objects, `other region` is the reply of Amazon S3 to a request that was signed for another region.
 */
type Trouble = 'cut' | 'busy' | 'denied' | 'silent' | 'elsewhere' | 'other region';

/** An S3-compatible server with one bucket, on loopback. It rejects requests whose signature is wrong. */
export interface FakeBucket {
  readonly url: string;
  readonly port: number;
  /** Objects by key. */
  readonly objects: Map<string, Buffer>;
  /** Method and key of each request, with its range. */
  readonly requests: string[];
  /** Temporary keys that the bucket accepts beside `bucketKeys`, by key id. */
  readonly loans: Map<string, { readonly secret: string; readonly token: string }>;
  /** For the next requests, one each (null: none), or for all until it is null. */
  trouble: Trouble | (Trouble | null)[] | null;
  close(): Promise<void>;
}

export const bucketKeys = { S3_ACCESS_KEY_ID: 'AKIAEXAMPLE', S3_SECRET_ACCESS_KEY: 'secret-of-the-bucket' };

export async function startFakeBucket(bucket: string, region = 'us-east-1'): Promise<FakeBucket> {
  const objects = new Map<string, Buffer>();
  const requests: string[] = [];
  const loans: FakeBucket['loans'] = new Map();
  const state: { trouble: Trouble | (Trouble | null)[] | null } = { trouble: null };
  const server = createServer(async (message, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const [path = '', query = ''] = (message.url ?? '').split('?');
    const headers = message.headers as Record<string, string | undefined>;
    const inHost = (headers.host ?? '').startsWith(`${bucket}.`);
    const key = decodeURIComponent(inHost ? path.slice(1) : path.slice(bucket.length + 2));
    requests.push([message.method, key, headers.range].filter((part) => part !== undefined).join(' '));
    const fail = (status: number, code: string, more = '') => {
      response.writeHead(status, { 'content-type': 'application/xml' }).end(`<Error><Code>${code}</Code>${more}</Error>`);
    };
    const trouble = Array.isArray(state.trouble) ? state.trouble.shift() : state.trouble;
    if (trouble === 'cut') return void message.socket.destroy();
    if (trouble === 'silent') return;
    if (trouble === 'busy') return fail(503, 'SlowDown');
    if (trouble === 'denied') return fail(403, 'AccessDenied');
    if (trouble === 'other region') return fail(400, 'AuthorizationHeaderMalformed', '<Region>eu-west-1</Region>');
    if (trouble === 'elsewhere') return void response.writeHead(404).end('page not found');
    const request = { host: headers.host ?? '', method: message.method ?? '', path, query, headers, body };
    const token = headers['x-amz-security-token'];
    const secrets = [...loans].flatMap(([id, loan]) => (loan.token === token ? [[id, loan.secret] as const] : []));
    const wrong = signatureError(request, 's3', region, {
      [bucketKeys.S3_ACCESS_KEY_ID]: bucketKeys.S3_SECRET_ACCESS_KEY,
      ...Object.fromEntries(secrets),
    });
    if (wrong !== null) return fail(403, wrong);
    if (!inHost && !path.startsWith(`/${bucket}/`)) return fail(404, 'NoSuchBucket');
    if (message.method === 'PUT') {
      objects.set(key, body);
      return void response.writeHead(200).end();
    }
    if (message.method === 'DELETE') {
      objects.delete(key);
      return void response.writeHead(204).end();
    }
    const object = objects.get(key);
    if (!object) return fail(404, 'NoSuchKey');
    const range = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '');
    if (!range) return void response.writeHead(200).end(object);
    response.writeHead(206).end(object.subarray(Number(range[1]), Number(range[2]) + 1));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    objects,
    requests,
    loans,
    get trouble() {
      return state.trouble;
    },
    set trouble(value) {
      state.trouble = value;
    },
    async close() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

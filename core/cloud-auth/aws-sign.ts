import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import type { HeaderList } from '../contract/values/http/http.ts';

/** The identity that signs a call to AWS. Held in memory only, while it is valid. */
export interface AwsIdentity {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
  /** Milliseconds since the epoch; null for keys that do not expire. */
  readonly expiresAtMs: number | null;
}

export interface SignedCall {
  readonly method: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path as it travels, percent-encoded, with its query. */
  readonly path: string;
  readonly headers: HeaderList;
  readonly body: Uint8Array | string | null;
}

/** Headers that only the signature may set. A client's value would contradict it. */
const signatureHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'x-amz-date',
  'x-amz-security-token',
  'x-amz-content-sha256',
]);

/**
 * Returns the headers of a call with its AWS signature version 4 (docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html).
 * It covers the host, the content type and every `x-amz-` header. The others may change on the way.
 */
export async function awsSigned(
  call: SignedCall,
  identity: AwsIdentity,
  scope: { readonly service: string; readonly region: string; readonly nowMs: number },
): Promise<HeaderList> {
  const url = new URL(call.origin);
  const remaining: HeaderList = [];
  const covered: Record<string, string> = { host: url.host };
  for (let i = 0; i < call.headers.length; i += 2) {
    const [name, value] = [call.headers[i] as string, call.headers[i + 1] as string];
    if (signatureHeaders.has(name)) continue;
    remaining.push(name, value);
    if (name === 'content-type' || name.startsWith('x-amz-')) covered[name] = value;
  }
  const isStorage = scope.service === 's3';
  if (isStorage) {
    // S3 requires the hash of the body as a header, and paths that are encoded once. All other services require paths that are
    // encoded twice.
    covered['x-amz-content-sha256'] = createHash('sha256')
      .update(call.body ?? '')
      .digest('hex');
    remaining.push('x-amz-content-sha256', covered['x-amz-content-sha256']);
  }
  const [path = '', query = ''] = splitOnce(call.path, '?');
  const { sessionToken } = identity;
  const signer = new SignatureV4({
    service: scope.service,
    region: scope.region,
    credentials: { ...identity, ...(sessionToken === null ? { sessionToken: undefined } : { sessionToken }) },
    sha256: Sha256,
    applyChecksum: false,
    uriEscapePath: !isStorage,
  });
  const request = {
    method: call.method,
    protocol: url.protocol,
    hostname: url.hostname,
    path,
    query: queryOf(query),
    headers: covered,
    body: call.body ?? '',
  };
  const signed = await signer.sign(request, { signingDate: new Date(scope.nowMs) });
  for (const name of ['x-amz-date', 'x-amz-security-token', 'authorization']) {
    const value = signed.headers[name];
    if (value !== undefined) remaining.push(name, value);
  }
  return remaining;
}

/** The hash that the signer asks for, computed by Node instead of in JavaScript. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    const key = secret instanceof ArrayBuffer ? new Uint8Array(secret) : secret;
    this.#hash = key === undefined ? createHash('sha256') : createHmac('sha256', key as string | Uint8Array);
  }

  update(data: Uint8Array): void {
    this.#hash.update(data);
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array(this.#hash.digest()));
  }

  reset(): void {}
}

/** Returns decoded names and values, because the signer encodes them again in its own way. */
function queryOf(text: string): Record<string, string | string[]> {
  // The client chooses the names, such as `constructor`.
  const query: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(text.replaceAll('+', '%2B'))) {
    const known = query[name];
    query[name] = known === undefined ? value : [known, value].flat();
  }
  return query;
}

function splitOnce(text: string, at: string): string[] {
  const index = text.indexOf(at);
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + 1)];
}

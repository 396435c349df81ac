import { createHash, createHmac } from 'node:crypto';
import type { CloudRequest } from './fake-clouds.ts';

/** Secrets of the accepted callers, by key id. */
export type Secrets = Readonly<Record<string, string>>;

/**
 * Checks a request's AWS signature version 4 by its specification (docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html),
 * without the code that made it. Returns the error, or null.
 */
export function signatureError(request: CloudRequest, service: string, region: string, secrets: Secrets): string | null {
  const { headers } = request;
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  if (!found) return 'no signature';
  const [, keyId = '', date = '', signedRegion, signedService, names = '', signature] = found;
  const secret = secrets[keyId];
  if (secret === undefined) return 'unknown key';
  const time = headers['x-amz-date'] ?? '';
  if (!time.startsWith(date) || signedRegion !== region || signedService !== service) return 'another scope';
  const bodyHash = sha256(request.body);
  if (service === 's3' && headers['x-amz-content-sha256'] !== bodyHash) return 'another body than was signed';
  const signed = names.split(';');
  const unsigned = Object.keys(headers).find((name) => /^(host|x-amz-.*)$/.test(name) && !signed.includes(name));
  if (unsigned !== undefined) return `${unsigned} is not signed`;
  const canonical = [
    request.method,
    pathOf(request.path, service),
    queryOf(request.query),
    ...signed.map((name) => `${name}:${(headers[name] ?? '').trim()}`),
    '',
    names,
    bodyHash,
  ].join('\n');
  const scope = `${date}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const key = [date, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`);
  return hmac(key, text).toString('hex') === signature ? null : 'SignatureDoesNotMatch';
}

/** S3 uses the path as sent. All other services encode each segment once more. */
function pathOf(path: string, service: string): string {
  return service === 's3' ? path : path.split('/').map(encoded).join('/');
}

function queryOf(query: string): string {
  const pairs =
    query === '' ? [] : query.split('&').map((pair) => pair.split('=').map((part) => encoded(decodeURIComponent(part))));
  return pairs
    .map(([name, value = '']) => `${name}=${value}`)
    .sort()
    .join('&');
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

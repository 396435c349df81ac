import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { newJobCredential } from '../../../core/contract/protocol/credentials/job-credential.ts';
import { keyPurposes } from '../../../core/contract/protocol/credentials/key-purposes.ts';
import { deriveKey } from '../../../core/contract/values/credentials/secret.ts';
import { hasTooManyValues } from '../../../core/contract/values/json/line-limits.ts';
import { hourMs } from '../../../core/contract/values/time/durations.ts';
import type { AdminServices } from '../admin-services.ts';

/** Reply of a gateway to a model request. */
export interface ModelReply {
  readonly status: number;
  /** The provider's id of the request, or the trace id. */
  readonly requestId: string;
  readonly retryAfterMs: number | null;
  readonly body: unknown;
}

const replyBytesMax = 64 * 1024 * 1024;

/** The credential must be valid when the request arrives, not when the reply is sent. */
const credentialSeconds = 60;

/** Returns the header of a credential that represents an API key, by its public id, for the duration of one request. */
export function keyHeader(
  { settings, clock }: Pick<AdminServices, 'settings' | 'clock'>,
  publicId: string,
): Record<string, string> {
  const secret = deriveKey(settings.clusterKey, keyPurposes.jobCredential);
  return { [`${settings.headerPrefix}api-key`]: newJobCredential(secret, publicId, clock.now(), credentialSeconds) };
}

/** Returns the milliseconds after which a model request has certainly ended. */
export function modelTimeoutMs({ requestTimeoutMs }: AdminServices['settings']): number {
  return requestTimeoutMs === 0 ? hourMs : requestTimeoutMs + 5_000;
}

/** Sends a model request to `path` of a gateway. Rejects if the reply is incomplete. It is then unknown whether the request was processed. */
export function sendToGateway(
  { gatewayUrl, headerPrefix }: Pick<AdminServices['settings'], 'gatewayUrl' | 'headerPrefix'>,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<ModelReply> {
  return new Promise((resolve, reject) => {
    const send = gatewayUrl.startsWith('https:') ? requestHttps : requestHttp;
    const bytes = Buffer.from(body);
    const call = send(gatewayUrl + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'content-length': bytes.length },
      signal,
    });
    call.on('error', reject);
    call.on('response', (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > replyBytesMax) call.destroy(new Error('the reply is too large'));
        chunks.push(chunk);
      });
      response.on('error', reject);
      response.on('close', () => reject(new Error('the reply was cut short')));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const { 'x-request-id': requestId, 'retry-after': retryAfter, [`${headerPrefix}trace-id`]: traceId } = response.headers;
        resolve({
          status: response.statusCode ?? 0,
          requestId: String(requestId ?? traceId ?? ''),
          retryAfterMs: retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) * 1000 : null,
          body: parsed(text),
        });
      });
    });
    call.end(bytes);
  });
}

/** True if `sendToGateway` has rejected because no gateway accepted a connection, so that the request was certainly not processed. */
export function isUnsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && withoutConnection.has(error.code);
}

const withoutConnection: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** Status codes of errors that may be temporary. */
const transient: ReadonlySet<number> = new Set([408, 409, 425, 429, 500, 502, 503, 504, 529]);
const attemptsMax = 5;
const waitMsMax = 60_000;

/** Returns the milliseconds after which a request is sent again, after `attempts` earlier ones; null if this reply is final. */
export function retryInMs({ status, retryAfterMs }: ModelReply, attempts: number): number | null {
  if (!transient.has(status) || attempts + 1 >= attemptsMax) return null;
  return Math.min(waitMsMax, retryAfterMs ?? 1_000 * 2 ** attempts);
}

/** Returns the text itself if it is no JSON, or has so many values that it must not be parsed. Providers choose the replies. */
function parsed(text: string): unknown {
  if (hasTooManyValues(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

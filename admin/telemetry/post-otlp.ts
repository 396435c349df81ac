import { retryAfterMs } from '../../core/contract/values/http/retry-after.ts';
import type { Post } from '../../core/telemetry/otlp/exporter.ts';
import { fetchReasonOf, type OutboundFetch } from '../outbound-fetch.ts';

/** A response holds a short message. */
const responseBytesMax = 64 * 1024;

/**
 * Returns a function that sends an export. The operator has chosen the address, so private ones are allowed. Redirects are not followed: headers
 * may hold a key.
 */
export function postOtlpWith(fetch: OutboundFetch): Post {
  return async (url, headers, body, timeoutMs) => {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: body as Uint8Array<ArrayBuffer>,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((error: unknown) => {
      throw new Error(fetchReasonOf(error), { cause: error });
    });
    return { status: response.status, retryAfterMs: retryAfterMs([...response.headers].flat()), body: await readShort(response) };
  };
}

/** Returns the body, or nothing of it if it is too long. */
async function readShort(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > responseBytesMax) return new Uint8Array();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

import { findHeader, type HeaderList, type InboundRequest } from '../../contract/values/http/http.ts';
import { isJson } from './reply-body.ts';

/** The address of a batch's results in JSON text, up to its path. A quote inside a text is escaped, so this matches members only. */
const resultsUrl = /("results_url"\s*:\s*")https?:\/\/[^"\\]*?(\/messages\/batches\/[^"\\/?#]+\/results)(?=[?"])/g;

/**
 * Returns a reply about message batches with the gateway's address in `results_url`, because SDKs send the caller's key to that address.
 * All other bytes stay. The address is a path if the gateway's own is unknown; SDKs resolve it against their base URL. Null if there is
 * nothing to change.
 */
export function resultsAtGateway(request: InboundRequest, headers: HeaderList, body: Uint8Array): Uint8Array | null {
  if (!isJson(headers) || findHeader(headers, 'content-encoding') !== undefined) return null;
  // Latin-1 keeps every byte.
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  let own: string | null = null;
  const changed = text.replace(resultsUrl, (_match, member: string, path: string) => {
    own ??= `${request.ownAddress?.() ?? ''}/v1`;
    return member + own + path;
  });
  return own === null ? null : Buffer.from(changed, 'latin1');
}

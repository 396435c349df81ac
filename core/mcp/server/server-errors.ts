import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import type { Called } from '../../json-rpc/attempt.ts';
import { nameCounterpart } from '../../json-rpc/name-counterpart.ts';
import { type Rejection, rejectionOf } from '../credentials/token-rejection.ts';
import type { ServerSettings } from './server-settings.ts';

/** `detail` of the error if the server rejected the credential. */
export const rejectedDetail = 'status 401';

/** `detail` of the error if a session of a client has ended. */
export const noSessionDetail = 'no session';

/** `detail` of the error if the server did not handle a message, because its connection was lost before. It can be sent again. */
export const lostDetail = 'connection lost';

/** The beginning of an error about a reply, before it names the server. */
const unnamed = /^The MCP server (?=(?:replied|sent|rejected|names|closed|did) )/;

/** Returns the `detail` of the error if a reply to a request of the gateway itself rejects the credential, for `rejectionIn`; else undefined. */
export function rejectionDetail(status: number, headers: HeaderList): string | undefined {
  const rejection = rejectionOf(status, headers);
  if (rejection === null) return undefined;
  return rejection.scope === null ? rejectedDetail : `${rejectedDetail} ${JSON.stringify(rejection)}`;
}

/** Returns why the server rejected the credential of a request of the gateway itself; null for other errors. */
export function rejectionIn(thrown: unknown): Rejection | null {
  if (!(thrown instanceof GatewayError) || !thrown.detail?.startsWith(rejectedDetail)) return null;
  const named = thrown.detail.slice(rejectedDetail.length);
  return named === '' ? { scope: null, isInvalid: true } : (JSON.parse(named) as Rejection);
}

/** Adds the slug of the server to an error about it, and names it instead of a provider in errors of the transport. */
export function nameServer(error: GatewayError, slug: string): GatewayError {
  if (unnamed.test(error.message)) return error.renamed(error.message.replace(unnamed, `$&${slug} `), error.param);
  return nameCounterpart(error, `MCP server ${slug}`, 'MCP_REQUEST_TIMEOUT');
}

/** Returns the server as the counterpart of a call. */
export function calledServer({ document, headers }: ServerSettings): Called {
  return { kind: 'mcp', label: 'MCP server', document, headers, named: (error) => nameServer(error, document.slug) };
}

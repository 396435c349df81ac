import type { UpstreamCall, UpstreamSender, UpstreamTimeouts } from '../../contract/provider/upstream.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { findHeader, type HeaderList } from '../../contract/values/http/http.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import type { OpenStreams } from '../../json-rpc/open-streams.ts';
import { exchangeStream } from '../../pipeline/attempt/exchange-stream.ts';
import { lostDetail, rejectedDetail } from '../server/server-errors.ts';
import type { ServerSettings } from '../server/server-settings.ts';

export interface SseParts {
  readonly sender: UpstreamSender;
  readonly server: ServerSettings;
  readonly timeouts: UpstreamTimeouts;
  /** Ends the connection when the process stops. */
  readonly streams?: OpenStreams;
}

/** Bytes of the reply to a POST that are read, so that the connection below can be used again. */
const replyBytesMax = 64 * 1024;

/** The call that opens the stream. A stream may be silent. */
export function openCall({ server, timeouts }: SseParts): UpstreamCall {
  const headers = [...Object.entries(server.headers).flat(), 'accept', 'text/event-stream', 'user-agent', 'svc-gateway'];
  return {
    ...targetOf(server, server.path),
    method: 'GET',
    headers,
    body: null,
    timeouts: { ...timeouts, idleMs: 0, totalMs: 0 },
  };
}

/** Sends a message, and returns the status of the reply. `headers` empty: those of the server. Rejects with GatewayError `upstream_…`. */
export async function postMessage(
  { sender, server, timeouts }: SseParts,
  endpoint: string,
  message: JsonObject,
  headers: HeaderList,
): Promise<number> {
  const all = headers.length > 0 ? [...headers] : [...Object.entries(server.headers).flat(), 'user-agent', 'svc-gateway'];
  if (findHeader(all, 'content-type') === undefined) all.push('content-type', 'application/json');
  const body = Buffer.from(JSON.stringify(message));
  const call = { ...targetOf(server, endpoint), method: 'POST', headers: all, body, timeouts };
  const stream = exchangeStream(sender, call);
  try {
    const { status } = await stream.head;
    let bytes = 0;
    for await (const chunk of stream.body) {
      bytes += chunk.length;
      if (bytes > replyBytesMax) break;
    }
    return status;
  } finally {
    stream.abort();
  }
}

function targetOf({ document, origin }: ServerSettings, path: string) {
  return { tenant: document.workspaceId, origin, path };
}

/** Returns the path for messages. Throws GatewayError for another origin: credentials must not reach it. */
export function endpointOf({ origin, path }: ServerSettings, data: string): string {
  const url = URL.parse(data.trim(), `${origin}${path}`);
  if (url !== null && url.origin === URL.parse(origin)?.origin) return `${url.pathname}${url.search}`;
  throw new GatewayError('upstream_invalid', { message: 'The MCP server names an endpoint of another origin' });
}

/** The error of a message that was not handled. `status`: that of the reply; null: the connection had been closed by `cause`. */
export function lostError(cause: GatewayError | null, status: number | null = null): GatewayError {
  if (cause !== null && status === null) {
    return new GatewayError(cause.code, { message: cause.message, status: cause.status, detail: lostDetail });
  }
  const detail = status === 401 ? rejectedDetail : status === 404 ? lostDetail : '';
  const message =
    status === 401 || status === 403
      ? `The MCP server rejected the credential of its integration (${status})`
      : `The MCP server replied with status ${status}`;
  return new GatewayError('upstream_status', { message, status: 502, ...(detail === '' ? {} : { detail }) });
}

export function timedOut(): GatewayError {
  return new GatewayError('request_timeout', { message: 'The MCP server did not reply in time' });
}

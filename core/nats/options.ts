import type { NodeConnectionOptions, TlsOptions } from '@nats-io/transport-node';

const pauseMs = 250;

/**
 * Connection options for `NATS_URL`: `nats://user:password@host:4222` or `tls://host`. Several servers are separated by commas.
 * The first URL sets credentials and TLS. Its parameters `sslrootcert`, `sslcert` and `sslkey` are files, which each connection reads again.
 * The client reconnects without limit. The server shows `name`.
 */
export function natsOptions(text: string, name: string): NodeConnectionOptions {
  const urls = text.split(',').map((part) => new URL(part.includes('://') ? part.trim() : `nats://${part.trim()}`));
  const first = urls[0];
  const user = decodeURIComponent(first?.username ?? '');
  const pass = decodeURIComponent(first?.password ?? '');
  return {
    // The client ignores the scheme and the credentials of server names.
    servers: urls.map((url) => `${url.hostname}:${url.port || 4222}`),
    name,
    // A user without a password is a token, as in the URLs of other NATS clients.
    ...(user && pass ? { user, pass } : user ? { token: user } : {}),
    ...(first?.protocol === 'tls:' ? { tls: tlsFiles(first.searchParams) } : {}),
    timeout: 2_000,
    maxReconnectAttempts: -1,
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: pauseMs,
    reconnectJitter: pauseMs,
    reconnectJitterTLS: pauseMs,
    // Detects a silent peer within half a minute. Until then the gateways' own requests for changes replace the notices.
    pingInterval: 10_000,
    maxPingOut: 2,
  };
}

function tlsFiles(parameters: URLSearchParams): TlsOptions {
  const files = { caFile: parameters.get('sslrootcert'), certFile: parameters.get('sslcert'), keyFile: parameters.get('sslkey') };
  return Object.fromEntries(Object.entries(files).filter(([, path]) => path !== null));
}

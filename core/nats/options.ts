import type { Auth, NodeConnectionOptions, TlsOptions } from '@nats-io/transport-node';

/** Returns NATS_URL as it is now; null if it cannot be read. */
export type ReadAgain = () => string | null;

const pauseMs = 250;

/**
 * Connection options for `NATS_URL`: `nats://user:password@host:4222` or `tls://host`. Several servers are separated by commas.
 * The first URL sets credentials and TLS. Its parameters `sslrootcert`, `sslcert` and `sslkey` are files, which each connection reads again.
 * The client reconnects without limit. The server shows `name`. `readAgain` returns the URL for each connection, whose credentials may have
 * changed; null: it cannot be read now.
 */
export function natsOptions(text: string, name: string, readAgain: ReadAgain | null = null): NodeConnectionOptions {
  const urls = urlsOf(text);
  const first = urls[0];
  return {
    // The client ignores the scheme and the credentials of server names.
    servers: urls.map((url) => `${url.hostname}:${url.port || 4222}`),
    name,
    ...(readAgain === null ? credentialsOf(text) : { authenticator: () => authOf(readAgain, text) }),
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

function urlsOf(text: string): URL[] {
  return text.split(',').map((part) => new URL(part.includes('://') ? part.trim() : `nats://${part.trim()}`));
}

interface Credentials {
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
}

/** A user without a password is a token, as in the URLs of other NATS clients. */
function credentialsOf(text: string): Credentials {
  const [first] = urlsOf(text);
  const user = decodeURIComponent(first?.username ?? '');
  const pass = decodeURIComponent(first?.password ?? '');
  return user && pass ? { user, pass } : user ? { token: user } : {};
}

/** Returns the credentials of the URL that is read now; those of the start if it is not usable, such as while its file is written. */
function authOf(readAgain: ReadAgain, atStart: string): Auth {
  const { token, user, pass } = usable(readAgain) ?? credentialsOf(atStart);
  if (token !== undefined) return { auth_token: token };
  return user === undefined || pass === undefined ? undefined : { user, pass };
}

function usable(readAgain: ReadAgain): Credentials | null {
  try {
    const text = readAgain();
    return text === null ? null : credentialsOf(text);
  } catch {
    return null;
  }
}

function tlsFiles(parameters: URLSearchParams): TlsOptions {
  const files = { caFile: parameters.get('sslrootcert'), certFile: parameters.get('sslcert'), keyFile: parameters.get('sslkey') };
  return Object.fromEntries(Object.entries(files).filter(([, path]) => path !== null));
}

import type { EventEmitter } from 'node:events';

/** The parts of a `pg` client used here; `pg` has no types of its own. */
export interface QueryingClient {
  readonly host: string;
  readonly port: number;
  readonly ssl: unknown;
  readonly sslNegotiation: string;
  /** Identify the server process of the connection; null before it has replied. */
  readonly processID: number | null;
  readonly secretKey: unknown;
  readonly connection: { readonly stream: { destroy(): void } };
}

interface Connection extends EventEmitter {
  connect(port: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processID: number, secretKey: unknown): void;
  readonly stream: { destroy(): void };
}

const withinMs = 500;

/**
 * Asks the server to end the query of a client, over a connection of its own, because a server process that waits for a lock does not notice
 * that its client has left. Resolves when the server has closed that connection, after a failure, and at the latest after half a second.
 */
export function cancelQuery(client: QueryingClient): Promise<void> {
  const { host, port, ssl, sslNegotiation, processID, secretKey } = client;
  if (processID === null) return Promise.resolve();
  const OfDriver = client.connection.constructor as new (config: object) => Connection;
  const connection = new OfDriver({ ssl, sslNegotiation });
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      connection.stream.destroy();
      resolve();
    };
    const timer = setTimeout(end, withinMs);
    const send = () => connection.cancel(processID, secretKey);
    connection.on('connect', () => {
      if (!ssl) send();
      else if (sslNegotiation !== 'direct') connection.requestSsl();
    });
    connection.on('sslconnect', send);
    connection.on('error', end);
    connection.on('end', end);
    if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
    else connection.connect(port, host);
  });
}

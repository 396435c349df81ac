import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { onTestFinished } from 'vitest';
import { within } from '../../support/until.ts';

export interface RawUpstream {
  readonly port: number;
  readonly origin: string;
  /** Every connection ever accepted, in order. */
  readonly connections: readonly RawConnection[];
  /** The next connection that no call has returned yet. */
  nextConnection(): Promise<RawConnection>;
  close(): Promise<void>;
}

export interface RawConnection {
  readonly socket: Socket;
  /** All bytes read so far, as latin1 text. */
  readonly received: string;
  readonly closed: Promise<void>;
  /** True once the other side has closed. */
  readonly isClosed: boolean;
  /** Resolves once `received` holds the text `times` times. */
  receives(text: string, times?: number): Promise<void>;
}

/** `startRawUpstream`, closed when the running test ends. */
export const rawUpstreamOfTest: typeof startRawUpstream = async (...given) => {
  const upstream = await startRawUpstream(...given);
  onTestFinished(() => upstream.close());
  return upstream;
};

/** A server of raw bytes, so that a test can stall, drip, cut and lie at any point. `script` runs for each connection. */
export async function startRawUpstream(
  script: (connection: RawConnection) => void | Promise<void> = () => {},
  options: { readonly tls?: { readonly key: string; readonly cert: string }; readonly host?: string } = {},
): Promise<RawUpstream> {
  const connections: RawConnection[] = [];
  let taken = 0;
  let onConnection: () => void = () => {};
  const accept = (socket: Socket) => {
    const connection = track(socket);
    connections.push(connection);
    onConnection();
    void script(connection);
  };
  const server = options.tls ? createTlsServer(options.tls, accept) : createServer(accept);
  server.listen(0, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    connections,
    async nextConnection() {
      const index = taken++;
      while (connections[index] === undefined) {
        await within(
          new Promise<void>((resolve) => {
            onConnection = resolve;
          }),
          `connection ${index + 1}`,
        );
      }
      return connections[index] as RawConnection;
    },
    async close() {
      for (const { socket } of connections) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A script that sends these bytes after each complete request of a connection. `requestEnd` marks the end of a request. */
export function replies(reply: string | Uint8Array, requestEnd = '\r\n\r\n'): (connection: RawConnection) => Promise<void> {
  return async (connection) => {
    for (let request = 1; !connection.isClosed; request++) {
      await Promise.race([connection.receives(requestEnd, request), connection.closed]);
      if (!connection.isClosed) connection.socket.write(typeof reply === 'string' ? Buffer.from(reply, 'latin1') : reply);
    }
  };
}

function track(socket: Socket): RawConnection {
  let received = '';
  let isClosed = false;
  let waiting: (() => void)[] = [];
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      isClosed = true;
      resolve();
    });
  });
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    const waiters = waiting;
    waiting = [];
    for (const tell of waiters) tell();
  });
  return {
    socket,
    closed,
    get received() {
      return received;
    },
    get isClosed() {
      return isClosed;
    },
    async receives(text, times = 1) {
      while (received.split(text).length - 1 < times) {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
        });
      }
    },
  };
}

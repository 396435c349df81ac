import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy whose connections can be cut, stalled, or cut when certain bytes pass. */
export interface CuttableProxy {
  readonly port: number;
  /** Closes every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Keeps connections open and discards the bytes. */
  stall(): void;
  /**
   * Cuts the connection that has sent `marker` in its transaction when it sends `text`, which is not passed on. Other connections
   * continue.
   */
  cutWhen(text: string, marker: string): void;
  restore(): Promise<void>;
  close(): Promise<void>;
}

export async function startProxy(host: string, port: number): Promise<CuttableProxy> {
  const sockets = new Set<Socket>();
  let stalled = false;
  let trap: { readonly text: string; readonly marker: string } | null = null;
  const server: Server = createServer((client) => {
    const upstream = connect(port, host);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
      socket.on('error', () => {});
    }
    let marked: typeof trap = null;
    client.on('data', (chunk) => {
      if (stalled) return;
      if (chunk.includes('begin')) marked = null;
      if (trap !== null && chunk.includes(trap.marker)) marked = trap;
      if (trap !== null && marked === trap && chunk.includes(trap.text)) {
        trap = null;
        client.destroy();
        return;
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (!stalled) client.write(chunk);
    });
  });
  const listen = async (at: number) => {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const own = await listen(0);
  const cut = async () => {
    const closed = server.listening ? once(server.close(), 'close') : Promise.resolve();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    port: own,
    cut,
    stall() {
      stalled = true;
    },
    cutWhen(text, marker) {
      trap = { text, marker };
    },
    async restore() {
      // A stalled connection has lost bytes and cannot continue.
      if (stalled) for (const socket of sockets) socket.destroy();
      stalled = false;
      if (!server.listening) await listen(own);
    },
    close: cut,
  };
}

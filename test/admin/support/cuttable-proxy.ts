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
  /**
   * From the moment at which a connection that has sent `marker` in its transaction sends `text`, which is not passed on, the bytes of all
   * connections are discarded, and new ones are refused until `restore`. The server does not notice.
   */
  loseWhen(text: string, marker: string): void;
  restore(): Promise<void>;
  close(): Promise<void>;
}

export async function startProxy(host: string, port: number): Promise<CuttableProxy> {
  const sockets = new Set<Socket>();
  let stalled = false;
  let trap: { readonly text: string; readonly marker: string; readonly loses: boolean } | null = null;
  /** Connections up to this number are lost. */
  let lostTo = 0;
  let opened = 0;
  const server: Server = createServer((client) => {
    const upstream = connect(port, host);
    const number = ++opened;
    const isLost = () => number <= lostTo;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('close', () => {
        sockets.delete(socket);
        if (isLost()) return;
        client.destroy();
        upstream.destroy();
      });
      socket.on('error', () => {});
    }
    let marked: typeof trap = null;
    client.on('data', (chunk) => {
      if (stalled || isLost()) return;
      if (chunk.includes('begin')) marked = null;
      if (trap !== null && chunk.includes(trap.marker)) marked = trap;
      if (trap !== null && marked === trap && chunk.includes(trap.text)) {
        if (trap.loses) {
          lostTo = opened;
          server.close();
        } else client.destroy();
        trap = null;
        return;
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (!stalled && !isLost()) client.write(chunk);
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
      trap = { text, marker, loses: false };
    },
    loseWhen(text, marker) {
      trap = { text, marker, loses: true };
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

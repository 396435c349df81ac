import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** A CONNECT that the proxy got. */
interface TunnelRequest {
  /** `host:port`. */
  readonly authority: string;
  readonly headers: IncomingHttpHeaders;
}

export interface FakeEgressProxy {
  readonly origin: string;
  readonly port: number;
  readonly requests: readonly TunnelRequest[];
  close(): Promise<void>;
}

export interface FakeEgressProxyOptions {
  /** Status of the reply to a CONNECT. Null: the proxy never replies. Default 200. */
  readonly status?: number | null;
  /** Closes the connection instead of a reply. */
  readonly hangsUp?: boolean;
}

/** Starts an HTTP proxy that opens tunnels to the ports of this machine, whatever host a CONNECT names. */
export async function startFakeEgressProxy({
  status = 200,
  hangsUp = false,
}: FakeEgressProxyOptions = {}): Promise<FakeEgressProxy> {
  const requests: TunnelRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((_request, response) => response.writeHead(405).end());
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  server.on('connection', keep);
  server.on('connect', ({ url = '', headers }, client: Socket) => {
    requests.push({ authority: url, headers });
    if (hangsUp) return void client.destroy();
    if (status === null) return;
    if (status !== 200) return void client.end(`HTTP/1.1 ${status} Refused\r\ncontent-length: 2\r\n\r\nno`);
    const upstream = keep(connect(Number(url.slice(url.lastIndexOf(':') + 1)), '127.0.0.1'));
    upstream.once('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    client.on('close', () => upstream.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    requests,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

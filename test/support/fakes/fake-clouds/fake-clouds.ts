import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

/** One complete request. `path` is percent-encoded as sent. */
export interface CloudRequest {
  readonly host: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

/** JSON with unchecked properties. */
// biome-ignore lint/suspicious/noExplicitAny: jobs and lines of every shape
export type LooseObject = Record<string, any>;

/** An object as `body` is sent as JSON, a text that begins with `<` as XML. */
export interface CloudReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object | string;
}

/** `stall`: no reply. `cut`: the connection ends instead of a reply. */
export type Cloud = (request: CloudRequest) => CloudReply | 'stall' | 'cut';

export interface FakeClouds {
  /** Every request, oldest first. */
  readonly requests: readonly CloudRequest[];
  /** Settings with which the product calls these instead of the real clouds. */
  readonly env: Readonly<Record<string, string>>;
  readonly names: readonly string[];
  readonly port: number;
  close(): Promise<void>;
}

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Clouds behind one TLS port, each under the host names of the real one. */
export async function startFakeClouds(clouds: Readonly<Record<string, Cloud>>): Promise<FakeClouds> {
  const requests: CloudRequest[] = [];
  const tls = { cert: readFileSync(file('../../tls/clouds-cert.pem')), key: readFileSync(file('../../tls/clouds-key.pem')) };
  const server = createServer(tls, (message, response) => {
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      const [path = '', query = ''] = (message.url ?? '').split('?');
      const host = message.headers.host ?? '';
      const headers = message.headers as CloudRequest['headers'];
      const request = { host, method: message.method ?? '', path, query, headers, body: Buffer.concat(chunks) };
      requests.push(request);
      const reply = clouds[host]?.(request) ?? { status: 421, body: 'no such host' };
      if (reply === 'cut') message.socket.destroy();
      if (typeof reply === 'string') return;
      const { status, headers: replied, body } = reply;
      const bytes = Buffer.isBuffer(body) || typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
      const type = typeof body === 'string' && body.startsWith('<') ? 'application/xml' : 'application/json';
      response.writeHead(status, { 'content-length': Buffer.byteLength(bytes), 'content-type': type, ...replied });
      response.end(message.method === 'HEAD' ? undefined : bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const names = Object.keys(clouds);
  const { port } = server.address() as AddressInfo;
  return {
    requests,
    names,
    port,
    env: {
      NODE_OPTIONS: `--import ${file('./redirect.mjs')}`,
      NODE_EXTRA_CA_CERTS: file('../../tls/clouds-cert.pem'),
      FAKE_CLOUDS_NAMES: names.join(','),
      FAKE_CLOUDS_PORT: String(port),
      TRUSTED_CUSTOM_HOSTS: `127.0.0.1,${names.join(',')}`,
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

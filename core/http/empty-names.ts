import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import type { Settings } from '../../config/settings.ts';
import type { Uws } from './load-uws.ts';

/** Without a result after this time the addon is assumed to accept empty names, which is the safe assumption. */
const verdictMs = 2_000;

const verdicts = new WeakMap<Uws['App'], Promise<boolean>>();

/**
 * Detects if the addon accepts a header line with an empty name (`: x`). Such an addon ends its header list there, so a
 * content-length after the line is lost and the body is read as the next request on the connection. Cores up to at least 20.79
 * accept it. The author's fix is of 16 August 2026. The addon does not report its version, so it receives one such request over
 * the loopback address.
 */
export function acceptsEmptyNames(uws: Uws): Promise<boolean> {
  const known = verdicts.get(uws.App);
  if (known) return known;
  const verdict = probe(uws);
  verdicts.set(uws.App, verdict);
  return verdict;
}

/**
 * Returns the warning for a service with such an addon that listens beyond the loopback address. Null if it listens on loopback
 * only.
 */
export function emptyNameWarning(settings: Pick<Settings, 'host' | 'keepAliveWithoutBody'>): string | null {
  if (/^(?:127\.[\d.]+|::1|localhost)$/.test(settings.host)) return null;
  const effect =
    settings.keepAliveWithoutBody === 'auto'
      ? 'Connections close after each request without a body.'
      : 'KEEP_ALIVE_WITHOUT_BODY=on keeps connections open, so a proxy in front that forwards such lines allows request smuggling.';
  return `The HTTP server binary accepts header lines with an empty name. ${effect} Put nginx, HAProxy or Apache in front, which reject such lines, or set UWS_BINARY to a fixed binary.`;
}

function probe(uws: Uws): Promise<boolean> {
  const path = `/${randomUUID()}`;
  return new Promise((resolve) => {
    const app = uws.App();
    const finish = (accepted: boolean): void => {
      clearTimeout(timer);
      // Deferred, because an app must not be closed inside its own callback.
      setImmediate(() => app.close());
      resolve(accepted);
    };
    const timer = setTimeout(finish, verdictMs, true);
    app.any('/*', (res, req) => {
      const isOurs = req.getUrl() === path;
      res.close();
      if (isOurs) finish(true);
    });
    app.listen('127.0.0.1', 0, (socket) => {
      if (socket === false) return finish(true);
      const client = connect(uws.us_socket_local_port(socket), '127.0.0.1');
      client.on('error', () => client.destroy());
      client.on('data', () => finish(false));
      client.write(`GET ${path} HTTP/1.1\r\nhost: probe\r\n: x\r\n\r\n`);
    });
  });
}

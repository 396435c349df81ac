import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import type { Uws } from './load-uws.ts';
import { openApp, type TlsFiles } from './tls-app.ts';

export interface ListenerOptions {
  readonly uws: Uws;
  readonly settings: TlsFiles;
  /** Adds the routes to a new app. */
  route(app: TemplatedApp): void;
  connectionEnded(): void;
}

/** Turns of the event loop that are waited for one that is short. */
const turnsMax = 100;
const shortTurnMs = 0.5;

/** The listening socket with its app. An app has one certificate, so each reload of the certificate makes another app. */
export class Listener {
  readonly #options: ListenerOptions;
  /** Connections by app: the one that listens, and those of earlier certificates that still have connections. */
  readonly #apps = new Map<TemplatedApp, number>();
  #current: TemplatedApp;
  #listening: us_listen_socket | null = null;
  #address = { host: '', port: 0 };
  /** Open client connections. */
  connections = 0;

  /** Throws an error that names the setting if the files of TLS_CERT and TLS_KEY cannot be used. */
  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#current = this.#newApp();
  }

  /** Binds and resolves with the port. Rejects if another process holds it or the address is not one of this machine. */
  async listen(host: string, port: number): Promise<number> {
    this.#listening = await listenWith(this.#current, host, port);
    this.#address = { host, port };
    return this.#options.uws.us_socket_local_port(this.#listening);
  }

  /**
   * Resolves after the connections that wait in the kernel are accepted, because it resets them when their listener closes. The addon accepts
   * all of them when the event loop polls, which it does between two turns of `setImmediate`. Waits for a short turn, if there is one: others
   * may arrive until the turn ends.
   */
  async acceptWaiting(): Promise<void> {
    await new Promise(setImmediate);
    for (let turns = 0; turns < turnsMax; turns++) {
      const beganMs = performance.now();
      await new Promise(setImmediate);
      if (performance.now() - beganMs < shortTurnMs) return;
    }
  }

  /** Accepts no further connections. Safe to call twice. */
  stop(): void {
    if (this.#listening === null) return;
    this.#options.uws.us_listen_socket_close(this.#listening);
    this.#listening = null;
  }

  /** Listens with the certificate that is in the files now. Resolves false if it does not listen or has no TLS. */
  async reloadTls(): Promise<boolean> {
    if (this.#listening === null || this.#options.settings.tlsCert === null) return false;
    const app = this.#newApp();
    // Both listen for a moment (SO_REUSEPORT), so that no connection is rejected.
    const socket = await listenWith(app, this.#address.host, this.#address.port).catch((error) => {
      this.#apps.delete(app);
      throw error;
    });
    await this.acceptWaiting();
    // The drain may have begun meanwhile.
    if (this.#listening === null) {
      this.#options.uws.us_listen_socket_close(socket);
      return false;
    }
    this.stop();
    if (this.#apps.get(this.#current) === 0) this.#apps.delete(this.#current);
    this.#current = app;
    this.#listening = socket;
    return true;
  }

  /** Closes all connections at once. */
  close(): void {
    this.stop();
    for (const app of this.#apps.keys()) app.close();
  }

  #newApp(): TemplatedApp {
    const app = openApp(this.#options.uws, this.#options.settings);
    this.#options.route(app);
    this.#apps.set(app, 0);
    app.filter((_res, change) => this.#countConnection(app, change));
    return app;
  }

  #countConnection(app: TemplatedApp, change: number): void {
    const own = (this.#apps.get(app) ?? 0) + change;
    this.connections += change;
    if (own > 0 || app === this.#current) this.#apps.set(app, own);
    else this.#apps.delete(app);
    if (change < 0) this.#options.connectionEnded();
  }
}

function listenWith(app: TemplatedApp, host: string, port: number): Promise<us_listen_socket> {
  return new Promise((resolve, reject) => {
    app.listen(host, port, (socket) => {
      if (socket !== false) return resolve(socket);
      reject(new Error(`Cannot listen on ${host}:${port}: the port is in use, or the address does not belong to this machine`));
    });
  });
}

import type { App, SSLApp, us_listen_socket_close, us_socket_local_port } from 'uWebSockets.js';
import { createRequire } from 'node:module';

/** The part of the server addon this folder uses. */
export interface Uws {
  readonly App: typeof App;
  readonly SSLApp: typeof SSLApp;
  readonly us_listen_socket_close: typeof us_listen_socket_close;
  readonly us_socket_local_port: typeof us_socket_local_port;
}

export type UwsName = 'uwsjs' | 'uws-pack';

export interface LoadedUws {
  readonly uws: Uws;
  /** Which of the two packages it came from. */
  readonly name: UwsName;
}

/**
 * Loads the server addon. `auto` takes the newer core where npm could install it (Linux x64, glibc, Node 22) and the
 * all-platform package elsewhere; a name forces one and rejects when it is missing.
 *
 * `headerBytesMax` is the longest header block in bytes. The addon reads it from the environment once, while it loads: the
 * first call in a process decides, and what is longer is answered 431 by the addon itself.
 */
export async function loadUws(binary: 'auto' | UwsName, headerBytesMax: number): Promise<LoadedUws> {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(headerBytesMax);
  if (binary !== 'uws-pack') {
    try {
      return { uws: createRequire(import.meta.url)('@uwsjs/linux-x64-22') as Uws, name: 'uwsjs' };
    } catch (error) {
      if (binary === 'uwsjs') throw new Error('The server addon @uwsjs/linux-x64-22 cannot be loaded', { cause: error });
    }
  }
  // The package has an `import` condition only, so `require` cannot resolve it. An official release in its place is CommonJS.
  const module = (await import('uWebSockets.js')) as Uws & { default?: Uws };
  return { uws: module.default ?? module, name: 'uws-pack' };
}

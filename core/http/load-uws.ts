import type { App, SSLApp, us_listen_socket_close, us_socket_local_port } from 'uWebSockets.js';
import { createRequire } from 'node:module';

/** The part of the server addon this folder uses. */
export interface Uws {
  readonly App: typeof App;
  readonly SSLApp: typeof SSLApp;
  readonly us_listen_socket_close: typeof us_listen_socket_close;
  readonly us_socket_local_port: typeof us_socket_local_port;
  /** Sets a process-wide switch of the addon. */
  _cfg(key: string): void;
}

export interface LoadedUws {
  readonly uws: Uws;
  /** `uwsjs`, `uws-pack`, or the path it was loaded from. */
  readonly name: string;
}

/** The value that makes the addon leave out its `uWebSockets` header. */
const silenceKey = '999999990007';

/**
 * Loads the server addon. `auto` prefers `uwsjs`, which has the newer core, if npm could install it (Linux x64, glibc, Node 22),
 * and otherwise loads `uws-pack`, which supports all platforms. A path loads that file, for example a binary of the author's own
 * releases. Rejects if the named addon cannot be loaded. `headerBytesMax` is the longest header block that the guard accepts, in
 * bytes. The addon gets twice as much, so that the guard can reject a longer block with an error body. Above that the addon
 * replies 431 with a page of its own. The addon reads its limit from the environment while it loads, so only the first call in a
 * process has an effect.
 */
export async function loadUws(binary: string, headerBytesMax: number): Promise<LoadedUws> {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(2 * headerBytesMax);
  const loaded = await loadBinary(binary);
  loaded.uws._cfg(silenceKey);
  return loaded;
}

async function loadBinary(binary: string): Promise<LoadedUws> {
  if (binary.startsWith('/')) return { uws: requireAddon(binary), name: binary };
  if (binary === 'uwsjs') return { uws: requireAddon(uwsjsPackage), name: 'uwsjs' };
  if (binary === 'auto') {
    try {
      return await loadBinary('uwsjs');
    } catch {
      return loadBinary('uws-pack');
    }
  }
  // The package has an `import` condition only, so `require` cannot resolve it. An official release in its place is CommonJS.
  const module = (await import('uWebSockets.js')) as unknown as Uws & { default?: Uws };
  return { uws: module.default ?? module, name: 'uws-pack' };
}

const uwsjsPackage = '@uwsjs/linux-x64-22';

function requireAddon(from: string): Uws {
  try {
    return createRequire(import.meta.url)(from) as Uws;
  } catch (error) {
    throw new Error(`UWS_BINARY: the HTTP server binary ${from} cannot be loaded`, { cause: error });
  }
}

import type * as Uws from 'uWebSockets.js';
import { createRequire } from 'node:module';

/** uWebSockets.js as the gateway loads it: the newer binary if it is installed, else the one for all platforms. */
export const uws: typeof Uws = await load();

async function load(): Promise<typeof Uws> {
  try {
    return createRequire(import.meta.url)('@uwsjs/linux-x64-22') as typeof Uws;
  } catch {
    return import('uWebSockets.js');
  }
}

import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Environment that lets all processes that tests start share what V8 has compiled once. */
export const compileCacheEnv = {
  NODE_COMPILE_CACHE: join(tmpdir(), `svc-test-compile-cache-${userInfo().uid}`),
} as const;

/** Arguments of `node` that run a TypeScript file of this repository as the supervisor runs its children, from the cache of stripped sources. */
export function sourceArguments(path: string, ...rest: readonly string[]): string[] {
  const preload = new URL('../../core/supervisor/load-stripped.mjs', import.meta.url).href;
  return ['--import', preload, fileURLToPath(new URL(`../../${path}`, import.meta.url)), ...rest];
}

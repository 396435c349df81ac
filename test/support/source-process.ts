import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Environment with which all processes of tests share V8's compiled code. */
export const compileCacheEnv = {
  NODE_COMPILE_CACHE: join(tmpdir(), `svc-test-compile-cache-${userInfo().uid}`),
} as const;

/** Flags of `node` for TypeScript of this repository. Sources without types come from a cache. */
const sourceFlags = ['--import', new URL('../../core/supervisor/load-stripped.mjs', import.meta.url).href] as const;

/** Arguments of `node` that run a TypeScript file of this repository like the supervisor runs its children. */
export function sourceArguments(path: string, ...rest: readonly string[]): string[] {
  return [...sourceFlags, fileURLToPath(new URL(`../../${path}`, import.meta.url)), ...rest];
}

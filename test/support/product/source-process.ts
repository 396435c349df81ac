import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isTestRun } from '../runner/test-run.ts';

/**
 * Environment with which processes of tests start with less CPU: they share V8's compiled code, and rarely compile code a second time to
 * make it faster. Processes of benchmarks compile like the product.
 */
export const cheapStartEnv: Readonly<Record<string, string>> = {
  NODE_COMPILE_CACHE: join(tmpdir(), `svc-test-compile-cache-${userInfo().uid}`),
  ...(isTestRun() ? { NODE_OPTIONS: `--require "${join(import.meta.dirname, '../runner/cheap-start.cjs')}"` } : {}),
};

/** Flags of `node` for TypeScript of this repository. Sources without types come from a cache. */
const sourceFlags = ['--import', new URL('../../../core/supervisor/load-stripped.mjs', import.meta.url).href] as const;

/** Arguments of `node` that run a TypeScript file of this repository like the supervisor runs its children. */
export function sourceArguments(path: string, ...rest: readonly string[]): string[] {
  return [...sourceFlags, fileURLToPath(new URL(`../../../${path}`, import.meta.url)), ...rest];
}

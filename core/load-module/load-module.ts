import { readFileSync } from 'node:fs';
import { createRequire, findPackageJSON } from 'node:module';
import { dirname, isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../contract/values/errors/message-of.ts';
import { sharePackage } from './share-package.ts';

/** Time for a module's top-level `await`. The start would wait without a log line for one that never settles. */
const loadMsMax = 30_000;

/**
 * Loads a file (absolute, or relative to the working directory) or an installed package of a third party, which may import
 * `svc-gateway/plugin` and `svc-gateway/provider`. Throws an Error that names the setting, the entry, the problem and its line.
 */
export async function loadModule(
  setting: string,
  name: string,
  msMax: number = loadMsMax,
): Promise<Readonly<Record<string, unknown>>> {
  sharePackage();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`its top-level await did not settle within ${msMax} ms`)), msMax);
  });
  try {
    return await Promise.race([import(locate(name)), late]);
  } catch (thrown) {
    throw new Error(`${setting}: ${name} cannot be loaded: ${messageOf(thrown)}${lineOf(thrown)}`, { cause: thrown });
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the line of a module in which an error arose. Errors of imports name the file. Node.js states none for a syntax error of JavaScript that is caught. */
function lineOf(thrown: unknown): string {
  if (!(thrown instanceof Error) || /^ERR_(MODULE|PACKAGE)_/.test((thrown as NodeJS.ErrnoException).code ?? '')) return '';
  const [, first, frame] = /^(?:file:\/\/)?(\S+:\d+)\n|\n +at .*?file:\/\/(\S+:\d+:\d+)/.exec(thrown.stack ?? '') ?? [];
  const line = first ?? frame;
  if (line !== undefined) return line.startsWith(ownPath) ? '' : ` (${line})`;
  return thrown instanceof SyntaxError ? '. To see the line, run the file with node' : '';
}

const ownPath = new URL(import.meta.url).pathname;

function isFile(name: string): boolean {
  return name.startsWith('.') || isAbsolute(name) || /\.[cm]?[jt]s$/.test(name);
}

/** Returns the version of the package; null for a file. */
export function versionOf(name: string): string | null {
  const manifest = isFile(name) ? undefined : findPackageJSON(name, resolve('package.json'));
  const version: unknown = manifest === undefined ? null : JSON.parse(readFileSync(manifest, 'utf8')).version;
  return typeof version === 'string' ? version : null;
}

function locate(name: string): string {
  if (isFile(name)) return pathToFileURL(resolve(name)).href;
  // Packages are resolved from the working directory, so that they need not be installed inside the service.
  const from = resolve('package.json');
  try {
    return pathToFileURL(createRequire(from).resolve(name)).href;
  } catch (thrown) {
    const manifest = (thrown as NodeJS.ErrnoException).code === notForRequire ? findPackageJSON(name, from) : undefined;
    const entry = manifest ? importEntry(JSON.parse(readFileSync(manifest, 'utf8')).exports) : null;
    if (!manifest || entry === null) throw thrown;
    return pathToFileURL(resolve(dirname(manifest), entry)).href;
  }
}

/**
 * `require` does not find a package whose `exports` have only `import`, and only `require` can resolve from another directory.
 */
const notForRequire = 'ERR_PACKAGE_PATH_NOT_EXPORTED';

/**
 * Returns the file that `import` of a package's root resolves to, by its `exports` (Node.js documentation, "Packages",
 * conditional exports).
 */
function importEntry(exports: unknown): string | null {
  if (typeof exports === 'string') return exports;
  if (typeof exports !== 'object' || exports === null) return null;
  for (const [condition, target] of Object.entries(exports)) {
    if (!['.', 'node', 'import', 'default'].includes(condition)) continue;
    const entry = importEntry(target);
    if (entry !== null) return entry;
  }
  return null;
}

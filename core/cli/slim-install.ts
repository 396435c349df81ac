import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The machine an installation is for; tests name others. */
export interface Target {
  readonly platform: string;
  readonly arch: string;
  /** Version of Node's binary interface, `process.versions.modules`. */
  readonly modules: string;
}

/**
 * Removes from `node_modules` what a running service never loads: HTTP server binaries of other platforms and Node versions, and
 * the headers that come with the Node package. Returns the bytes it has removed. Safe to call twice.
 */
export function slimInstall(nodeModules: string, target: Target): number {
  const needed = `uws_${target.platform}_${target.arch}_${target.modules}.node`;
  const binaries = join(nodeModules, 'uWebSockets.js/dist/bin');
  // If the binary for this machine is missing, the folder has an unexpected layout. Nothing is removed.
  const foreign = existsSync(join(binaries, needed)) ? readdirSync(binaries).filter((name) => name !== needed) : [];
  const paths = foreign.map((name) => join(binaries, name));
  for (const name of existsSync(nodeModules) ? readdirSync(nodeModules) : []) {
    if (/^node-(bin-)?(linux|darwin|win)-/.test(name))
      paths.push(join(nodeModules, name, 'include'), join(nodeModules, name, 'share'));
  }
  let removed = 0;
  for (const path of paths) {
    removed += bytesOf(path);
    rmSync(path, { recursive: true, force: true });
  }
  return removed;
}

function bytesOf(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) return 0;
  if (!found.isDirectory()) return found.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0);
}

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Loads the TypeScript of this repository from a cache of sources without types. Node 22 keeps its type stripper, about 22 MB, in
 * every process that has loaded one TypeScript file. With this preload only a short-lived child has loaded it. It is a preload
 * (`node --import`) in JavaScript, because a TypeScript file would load the stripper itself.
 */
const root = new URL('../../', import.meta.url).href;
const nodeModules = fileURLToPath(new URL('node_modules', root));
const cache = join(nodeModules, '.cache/svc-gateway', `stripped-${process.version}`);
let filled = !writable(nodeModules);

registerHooks({
  // Imports among the sources name a file. Node's own resolution would also look for links and package.json files: a sixth of a start.
  resolve(specifier, context, nextResolve) {
    const isOwn = specifier.startsWith('.') && specifier.endsWith('.ts') && context.parentURL?.startsWith(root);
    if (!isOwn || context.parentURL.includes('/node_modules/')) return nextResolve(specifier, context);
    return { url: new URL(specifier, context.parentURL).href, format: 'module-typescript', shortCircuit: true };
  },
  load(url, context, nextLoad) {
    if (!url.startsWith(root) || !url.endsWith('.ts') || url.includes('/node_modules/')) return nextLoad(url, context);
    const source = stripped(fileURLToPath(url));
    return source === null ? nextLoad(url, context) : { format: 'module', source, shortCircuit: true };
  },
});

/** Returns the source without types. Null if the cache cannot hold it. */
function stripped(file) {
  const entry = join(cache, createHash('sha1').update(readFileSync(file)).digest('hex'));
  const found = read(entry);
  if (found !== null || filled) return found;
  filled = true;
  const stripper = fileURLToPath(new URL('strip-sources.ts', import.meta.url));
  const flags = ['--disable-warning=ExperimentalWarning'];
  spawnSync(process.execPath, [...flags, stripper, fileURLToPath(root), cache], { stdio: 'ignore', env: {} });
  return read(entry);
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

function writable(folder) {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

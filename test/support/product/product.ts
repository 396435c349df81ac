import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isTestRun, runDirectory } from '../runner/test-run.ts';
import { until } from '../until.ts';

const root = join(import.meta.dirname, '../../..');
const cache = join(root, 'node_modules/.cache/svc-gateway');
const sources = ['{core,admin,plugins,workers,config}/**/*.ts', 'package-lock.json'];
/** Bundles that stay in the cache: other runs may use those of earlier sources. */
const bundlesMax = 4;

let bundle: Promise<string> | null = null;

/**
 * Returns the file of a program of the product, such as `core/main`, in a bundle of the current sources. A start from it takes about
 * 40 % less CPU time than one from the sources. The bundle is built if there is none of these sources.
 */
export async function productFile(program: string): Promise<string> {
  bundle ??= currentBundle();
  return join(await bundle, `${program}.js`);
}

async function currentBundle(): Promise<string> {
  const hash = hashOfSources();
  const folder = join(cache, `bundle-${hash}`);
  if (existsSync(folder)) return folder;
  if (isTestRun() && !isFirst(join(runDirectory(), `bundle-${hash}`))) {
    await until(() => existsSync(folder), { what: 'the bundle that another test file builds', deadlineMs: 60_000 });
    return folder;
  }
  const unfinished = `${folder}.${process.pid}`;
  await promisify(execFile)(process.execPath, [
    '--no-warnings',
    join(root, 'config/build/bundle.ts'),
    unfinished,
    '--packages-of-start',
  ]);
  // Node does not search package.json above node_modules. Without a type it compiles each file twice to find out whether it is a module.
  writeFileSync(join(unfinished, 'package.json'), '{"type":"module"}');
  // If another run was faster, its bundle stays.
  if (existsSync(folder)) rmSync(unfinished, { recursive: true });
  else renameSync(unfinished, folder);
  removeOldBundles();
  return folder;
}

function hashOfSources(): string {
  const hash = createHash('sha256');
  for (const path of globSync(sources, { cwd: root }).sort()) hash.update(`${path}\n`).update(readFileSync(join(root, path)));
  return hash.digest('hex').slice(0, 16);
}

/** True for the first caller among the processes of a test run. */
function isFirst(mark: string): boolean {
  try {
    mkdirSync(mark);
    return true;
  } catch {
    return false;
  }
}

function removeOldBundles(): void {
  const folders = globSync('bundle-*', { cwd: cache }).map((name) => join(cache, name));
  const madeAt = (folder: string): number => statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  folders.sort((one, other) => madeAt(other) - madeAt(one));
  for (const folder of folders.slice(bundlesMax)) rmSync(folder, { recursive: true, force: true });
}

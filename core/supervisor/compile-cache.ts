import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the folder in which Node stores the compiled code of these programs, and removes the folders of other versions. Programs of a
 * build name their shared files by the hash of the content, so any change of the code changes one of the programs.
 */
export function compileCache(dataDir: string, programs: readonly string[]): string {
  const root = join(dataDir, 'compile-cache');
  const hash = createHash('sha1').update(process.version);
  for (const program of programs) hash.update(program).update(readFileSync(program));
  const current = hash.digest('hex').slice(0, 12);
  removeOthers(root, current);
  return join(root, current);
}

/** A service of an earlier version may run in the same DATA_DIR. It works without its cache. */
function removeOthers(root: string, current: string): void {
  try {
    for (const name of readdirSync(root)) if (name !== current) rmSync(join(root, name), { recursive: true, force: true });
  } catch {
    // There is no cache yet, or it cannot be changed. The service works in both cases.
  }
}

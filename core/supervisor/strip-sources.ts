import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';

/**
 * `node strip-sources.ts <root> <cache>`: writes each TypeScript file of the program without its types to the cache, under the
 * SHA-1 of its source, and removes entries of sources that no longer exist. `load-stripped.mjs` runs it and reads the entries.
 */
const [root = '', cache = ''] = process.argv.slice(2);
mkdirSync(cache, { recursive: true });
const before = new Set(readdirSync(cache));
const current = new Set<string>();
for (const folder of ['config', 'core', 'plugins', 'admin', 'workers']) {
  for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue;
    const source = readFileSync(join(root, folder, name), 'utf8');
    const key = createHash('sha1').update(source).digest('hex');
    current.add(key);
    if (before.has(key)) continue;
    // Another process may read the entry at the same time, so it is created in one step.
    const temporary = join(cache, `${key}.${process.pid}`);
    writeFileSync(temporary, stripTypeScriptTypes(source));
    renameSync(temporary, join(cache, key));
  }
}
for (const key of before) if (!current.has(key)) rmSync(join(cache, key), { force: true });

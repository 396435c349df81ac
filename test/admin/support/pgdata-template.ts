import { createHash } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../../admin/db/open-database.ts';
import { newMemoryLog } from '../../support/memory-log.ts';

const migrations = new URL('../../../admin/db/migrations/', import.meta.url);

/**
 * Puts an embedded database with all tables and no rows into `dataDir`. Making one takes seconds of CPU, so it is made once per
 * state of the migrations, kept in the temporary directory, and copied.
 */
export async function copyEmptyDatabase(dataDir: string): Promise<void> {
  const template = join(tmpdir(), `svc-test-pgdata-${userInfo().uid}-${await fingerprint()}`);
  if (!(await stat(template).catch(() => null))) await make(template);
  await cp(template, join(dataDir, 'pgdata'), { recursive: true });
}

async function make(template: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-test-pgdata-new-'));
  const database = await openDatabase({ databaseUrl: null, dbPoolSize: 1, dataDir: directory }, newMemoryLog());
  await database.close();
  // Another test file may have been faster; then its copy stays.
  await rename(join(directory, 'pgdata'), template).catch(() => {});
  await rm(directory, { recursive: true, force: true });
}

async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  for (const name of (await readdir(migrations)).sort()) hash.update(await readFile(new URL(name, migrations)));
  hash.update(await readFile(new URL('../../../node_modules/@electric-sql/pglite/package.json', import.meta.url)));
  return hash.digest('hex').slice(0, 16);
}

import { createHash, randomBytes } from 'node:crypto';
import { cpSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';

const admin = new URL('../../../admin/', import.meta.url);

/**
 * Puts an embedded database with all tables and no rows into `dataDir`. Creating one takes seconds of CPU, so it is created once per
 * state of the migrations, kept in the temporary directory, and copied.
 */
export async function copyEmptyDatabase(dataDir: string): Promise<void> {
  const template = join(tmpdir(), `svc-test-pgdata-${userInfo().uid}-${await fingerprint()}`);
  if (!(await stat(template).catch(() => null))) await make(template);
  // The database has more than a thousand files. The asynchronous copy takes four times the CPU of this one.
  cpSync(template, join(dataDir, 'pgdata'), { recursive: true });
}

/** The same for a product that starts there, with the keys that it would create itself. */
export async function copyEmptyDataDir(dataDir: string): Promise<void> {
  await copyEmptyDatabase(dataDir);
  for (const name of ['encryption.key', 'cluster.key'])
    await writeFile(join(dataDir, name), `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
}

async function make(template: string): Promise<void> {
  // Imported lazily, because a test that finds the template needs no database of its own.
  const [{ openDatabase }, { entities, migrations }] = await Promise.all([
    import('../../../admin/db/open-database.ts'),
    import('../../../admin/tables.ts'),
  ]);
  const directory = await mkdtemp(join(tmpdir(), 'svc-test-pgdata-new-'));
  const database = await openDatabase(
    { databaseUrl: null, dbPoolSize: 1, dataDir: directory },
    { entities, migrations },
    newMemoryLog(),
  );
  await database.close();
  // If another test file was faster, its copy stays.
  await rename(join(directory, 'pgdata'), template).catch(() => {});
  await rm(directory, { recursive: true, force: true });
}

let migrationsHash: Promise<string> | null = null;

/** Hash of the names and texts of all migrations and the version of PGlite, when this process first asked for it. */
export function fingerprint(): Promise<string> {
  migrationsHash ??= hashMigrations();
  return migrationsHash;
}

async function hashMigrations(): Promise<string> {
  const hash = createHash('sha256');
  const files = (await readdir(admin, { recursive: true })).filter((name) => /[/\\]migrations[/\\]/.test(name));
  // The name is included, because the database records migrations by name.
  for (const name of files.sort()) hash.update(name).update(await readFile(new URL(name, admin)));
  hash.update(await readFile(new URL('../../../node_modules/@electric-sql/pglite/package.json', import.meta.url)));
  return hash.digest('hex').slice(0, 16);
}

import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { type Environment, issuesBeforeKeys, SettingsError } from './load-settings.ts';
import { makeFolder } from './make-folder.ts';
import { readSecretFiles } from './secret-files.ts';
import { settingsTable } from './settings-table.ts';

/**
 * Returns the environment with the content of secret files, and with ENCRYPTION_KEY and CLUSTER_KEY. If ROLE is `all` and a key is unset, it is read from
 * DATA_DIR or, in an empty data folder, generated there with mode 0600. Only the supervisor calls this. Its children get the keys
 * through their environment. While ENCRYPTION_KEY from DATA_DIR is replaced, the earlier key is in a file beside it. Safe to call twice. Throws SettingsError with all issues of the settings, and if there is data
 * without its key. A lost key is never replaced, because everything it sealed would be lost with it.
 */
export function prepareKeys(given: Environment): Environment {
  const env = readSecretFiles(given);
  const issues = issuesBeforeKeys(env);
  if (issues.length > 0) throw new SettingsError(issues);
  const missing = keyFiles.filter((key) => !env[key.name]?.trim());
  if (missing.length === 0) return env;
  const dataDir = resolve(env.DATA_DIR?.trim() || settingsTable.dataDir.default || '.');
  const filled: Record<string, string | undefined> = { ...env };
  const lost: string[] = [];
  let earlier: string | null = null;
  try {
    makeFolder(dataDir);
    // Both are checked before either is written, so that a failed start does not leave a single key.
    const sealed = dataEntries.find((entry) => existsSync(join(dataDir, entry)));
    for (const { name, file } of missing) {
      const path = join(dataDir, file);
      if (sealed === undefined || existsSync(path)) continue;
      lost.push(
        `${name}: ${path} is missing although ${join(dataDir, sealed)} exists, expected the key that encrypted this data: ` +
          `restore the file, set ${name}, or move the folder away to start with empty data`,
      );
    }
    if (lost.length === 0) {
      for (const { name, file } of missing) filled[name] = readOrCreate(join(dataDir, file));
      earlier = readEarlier(env, filled, dataDir);
    }
  } catch (error) {
    throw new SettingsError(
      [`DATA_DIR: got ${JSON.stringify(dataDir)}, expected a folder that this process can write (${(error as Error).message})`],
      { cause: error },
    );
  }
  if (lost.length > 0) throw new SettingsError(lost);
  if (earlier !== null) filled[previousKey.name] = earlier;
  const unusable = (earlier === null ? missing : [...missing, previousKey]).filter(
    ({ name, type }) => !v.is(type.schema, filled[name]),
  );
  if (unusable.length === 0) return filled;
  throw new SettingsError(
    unusable.map(
      ({ name, file, type }) =>
        `${name}: the file ${join(dataDir, file)} contains no valid key, expected ${type.expected}: restore the file or set ${name}`,
    ),
  );
}

/** File of the earlier ENCRYPTION_KEY in DATA_DIR. */
export const previousKeyFile = 'encryption.key.previous';

const previousKey = {
  name: settingsTable.encryptionKeyPrevious.name,
  type: settingsTable.encryptionKeyPrevious.type,
  file: previousKeyFile,
} as const;

/** Returns the earlier key if ENCRYPTION_KEY is from DATA_DIR and there is one; otherwise null. */
function readEarlier(env: Environment, filled: Environment, dataDir: string): string | null {
  const name = settingsTable.encryptionKey.name;
  const path = join(dataDir, previousKeyFile);
  if (env[name]?.trim() || env[previousKey.name]?.trim() || !existsSync(path)) return null;
  const text = readFileSync(path, 'utf8').trim();
  // `generateEncryptionKey` was interrupted before it wrote the new key.
  return text === filled[name] ? null : text;
}

const keyFiles = [
  { name: settingsTable.encryptionKey.name, type: settingsTable.encryptionKey.type, file: 'encryption.key' },
  { name: settingsTable.clusterKey.name, type: settingsTable.clusterKey.type, file: 'cluster.key' },
] as const;

/** Entries of the data directory that hold text sealed with the keys. */
const dataEntries = ['pgdata', 'last-known-good', 'first-keys.json'] as const;

function readOrCreate(path: string): string {
  let file: number;
  try {
    // `wx` fails if the file exists. Of two concurrent starts one writes the key and both use it.
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return readFileSync(path, 'utf8').trim();
  }
  const key = randomBytes(32).toString('base64');
  try {
    writeFileSync(file, `${key}\n`, { flush: true });
  } catch (error) {
    // On a full disk the file is empty. The next start would not replace it.
    rmSync(path);
    throw error;
  } finally {
    closeSync(file);
  }
  return key;
}

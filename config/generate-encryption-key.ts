import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Environment, SettingsError } from './load-settings.ts';
import { prepareKeys, previousKeyFile } from './prepare-keys.ts';
import { readSecretFiles } from './secret-files.ts';
import { settingsTable } from './settings-table.ts';

/**
 * Replaces the file of ENCRYPTION_KEY in DATA_DIR by a new key, and keeps the earlier one in a file beside it. Returns both paths. A run
 * that was interrupted can be repeated. Throws SettingsError if the key is not from DATA_DIR, and if the database may still need the
 * key that is in the second file.
 */
export function generateEncryptionKey(given: Environment): { file: string; previous: string } {
  const env = readSecretFiles(given);
  const dataDir = resolve(env.DATA_DIR?.trim() || settingsTable.dataDir.default || '.');
  const file = join(dataDir, 'encryption.key');
  const previous = join(dataDir, previousKeyFile);
  if (env.ENCRYPTION_KEY?.trim() || !existsSync(file)) {
    const found = env.ENCRYPTION_KEY?.trim() ? 'the setting is used instead of a file' : `${file} does not exist`;
    throw new SettingsError([
      `ENCRYPTION_KEY: ${found}, so no file is replaced. Generate a key with \`openssl rand -base64 32\`, set it as ENCRYPTION_KEY, and the ` +
        'earlier one as ENCRYPTION_KEY_PREVIOUS',
    ]);
  }
  prepareKeys(given);
  const key = readFileSync(file, 'utf8').trim();
  if (existsSync(previous) && readFileSync(previous, 'utf8').trim() !== key) {
    throw new SettingsError([
      `ENCRYPTION_KEY: ${previous} exists, so a replacement is in progress. Run \`npm run encryption-key\`, and delete the file when it ` +
        'states that it is not needed',
    ]);
  }
  replaceFile(previous, key);
  replaceFile(file, randomBytes(32).toString('base64'));
  return { file, previous };
}

/** At no time the file is missing or holds a part of a key. */
function replaceFile(path: string, key: string): void {
  const draft = `${path}.draft`;
  writeFileSync(draft, `${key}\n`, { mode: 0o600, flush: true });
  renameSync(draft, path);
}

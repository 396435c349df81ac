import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SettingsError } from '../../config/load-settings.ts';
import { prepareKeys } from '../../config/prepare-keys.ts';
import { readSecretFiles, secretNames } from '../../config/secret-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'secret-files-'));

function fileWith(text: string): string {
  const path = join(mkdtempSync(join(folder, 'file-')), 'secret');
  writeFileSync(path, text);
  return path;
}

function issuesOf(env: Record<string, string>): readonly string[] {
  try {
    readSecretFiles(env);
  } catch (error) {
    if (error instanceof SettingsError) return error.issues;
    throw error;
  }
  return [];
}

describe('files of secrets', () => {
  it.each(secretNames)('%s_FILE stands for the value in its file, without white space around it', (name) => {
    const file = fileWith(' the value\n');
    const isReadAgain = name === 'DATABASE_URL' || name === 'NATS_URL';
    expect(readSecretFiles({ PORT: '80', [`${name}_FILE`]: file })).toEqual({
      PORT: '80',
      [name]: 'the value',
      ...(isReadAgain ? { [`${name}_FILE`]: file } : {}),
    });
  });

  it('have precedence over https_proxy, which stands for HTTPS_PROXY as in other programs', () => {
    const lower = { https_proxy: 'http://lower:1', no_proxy: 'a.example' };
    const inFile = { HTTPS_PROXY_FILE: fileWith('http://file:1'), NO_PROXY: 'b.example' };
    const filled = (env: Record<string, string>) => {
      const { HTTPS_PROXY, NO_PROXY } = readSecretFiles(env);
      return { HTTPS_PROXY, NO_PROXY };
    };
    expect(filled(lower)).toEqual({ HTTPS_PROXY: 'http://lower:1', NO_PROXY: 'a.example' });
    expect(filled({ ...lower, ...inFile })).toEqual({ HTTPS_PROXY: 'http://file:1', NO_PROXY: 'b.example' });
  });

  it('are read before keys are generated', () => {
    const key = Buffer.alloc(32, 7).toString('base64');
    const env = { DATA_DIR: join(folder, 'data'), ENCRYPTION_KEY_FILE: fileWith(`${key}\n`), CLUSTER_KEY: key };
    expect(prepareKeys(env)).toEqual({ DATA_DIR: env.DATA_DIR, ENCRYPTION_KEY: key, CLUSTER_KEY: key });
  });

  it('DATABASE_URL_FILE is read again by each process that the supervisor starts, which also has the content of the first start', () => {
    const file = fileWith('postgresql://user:one@host/db');
    const env = readSecretFiles({ DATABASE_URL_FILE: file });
    writeFileSync(file, 'postgresql://user:two@host/db\n');
    expect(readSecretFiles(env, { isChild: true }).DATABASE_URL).toBe('postgresql://user:two@host/db');
    rmSync(file);
    expect(readSecretFiles(env, { isChild: true }).DATABASE_URL).toBe('postgresql://user:one@host/db');
  });

  it('are ignored if their variable is empty', () => {
    expect(readSecretFiles({ DATABASE_URL_FILE: ' ' })).toEqual({});
  });

  it('are refused together with the value, if they cannot be read, or if they are empty', () => {
    const gone = join(folder, 'gone');
    expect(
      [
        ...issuesOf({
          ...{ DATABASE_URL: 'postgresql://x', DATABASE_URL_FILE: fileWith('postgresql://secret@y') },
          ...{ NATS_URL_FILE: gone, SMTP_URL_FILE: fileWith('\n'), METRICS_TOKEN_FILE: folder },
        }),
      ].sort(),
    ).toEqual([
      'DATABASE_URL_FILE: DATABASE_URL is set as well, expected one of them',
      expect.stringMatching(
        /^METRICS_TOKEN_FILE: got ".*", expected the path of a readable file with the value of METRICS_TOKEN \(EISDIR/,
      ),
      expect.stringMatching(/^NATS_URL_FILE: got ".*gone", expected .* \(ENOENT/),
      expect.stringMatching(/^SMTP_URL_FILE: got ".*", expected .* \(it is empty\)$/),
    ]);
  });
});

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadSettings, SettingsError } from '../../config/load-settings.ts';
import { prepareKeys } from '../../config/prepare-keys.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = join(mkdtempSync(join(tmpdir(), 'keys-')), 'data');
});

describe('prepareKeys', () => {
  it('generates two different keys, readable by the owner only, and returns the same ones afterwards', () => {
    const first = prepareKeys({ DATA_DIR: dataDir });
    expect(first.ENCRYPTION_KEY).not.toBe(first.CLUSTER_KEY);
    expect(loadSettings(first).encryptionKey).toHaveLength(32);
    for (const file of ['encryption.key', 'cluster.key']) expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(prepareKeys({ DATA_DIR: dataDir })).toEqual(first);
  });

  it('leaves no empty file if the disk refuses a key, so that a later start can write it', () => {
    const program = `
      const { prepareKeys } = await import(${JSON.stringify(new URL('../../config/prepare-keys.ts', import.meta.url).href)});
      try { prepareKeys(process.env) } catch (error) { console.log(error.issues[0]) }`;
    // Files of this process can have no content, as on a full disk.
    const shell = ['-c', 'trap "" XFSZ; ulimit -f 0; exec "$0" --input-type=module --eval "$1"', process.execPath, program];
    const { stdout } = spawnSync('sh', shell, { encoding: 'utf8', env: { DATA_DIR: dataDir } });
    expect(stdout).toMatch(/^DATA_DIR: .*EFBIG/);
    expect(readdirSync(dataDir)).toEqual([]);
    expect(loadSettings(prepareKeys({ DATA_DIR: dataDir })).encryptionKey).toHaveLength(32);
  });

  it('prefers given keys and then writes none', () => {
    const env = {
      DATA_DIR: dataDir,
      ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
      CLUSTER_KEY: Buffer.alloc(32, 2).toString('base64'),
    };
    expect(prepareKeys(env)).toEqual(env);
    expect(() => readdirSync(dataDir)).toThrow(/ENOENT/);
  });

  it.each(['encryption.key', 'cluster.key'])('does not replace a lost %s if there is data, and writes nothing', (file) => {
    prepareKeys({ DATA_DIR: dataDir });
    mkdirSync(join(dataDir, 'pgdata'));
    rmSync(join(dataDir, file));
    const before = readdirSync(dataDir);
    expect(() => prepareKeys({ DATA_DIR: dataDir })).toThrow(`${file} is missing although ${join(dataDir, 'pgdata')} exists`);
    expect(readdirSync(dataDir)).toEqual(before);
  });

  it('uses the key files if there is data', () => {
    const first = prepareKeys({ DATA_DIR: dataDir });
    mkdirSync(join(dataDir, 'pgdata'));
    expect(prepareKeys({ DATA_DIR: dataDir })).toEqual(first);
  });

  it.skipIf(process.platform !== 'linux')('names DATA_DIR if its folder cannot be created, without looping', () => {
    expect(() => prepareKeys({ DATA_DIR: '/proc/nope' })).toThrow(
      /^DATA_DIR: got "\/proc\/nope", expected a folder that this process can write/,
    );
  });

  it('names a damaged key file', () => {
    const first = prepareKeys({ DATA_DIR: dataDir });
    writeFileSync(join(dataDir, 'encryption.key'), (first.ENCRYPTION_KEY as string).slice(0, 20));
    expect(() => prepareKeys({ DATA_DIR: dataDir })).toThrow(
      `ENCRYPTION_KEY: the file ${join(dataDir, 'encryption.key')} contains no valid key, expected `,
    );
  });

  it.each(['gateway', 'control-plane'])('generates nothing for ROLE=%s, because all machines need the same keys', (ROLE) => {
    expect(() => prepareKeys({ DATA_DIR: dataDir, ROLE })).toThrow(SettingsError);
    expect(() => prepareKeys({ DATA_DIR: dataDir, ROLE })).toThrow(
      /ENCRYPTION_KEY: not set.*\nCLUSTER_KEY: not set.*all machines need the same key/,
    );
    expect(() => readdirSync(dataDir)).toThrow(/ENOENT/);
  });

  it('reports all other errors before it writes to the disk', () => {
    expect(() => prepareKeys({ DATA_DIR: dataDir, PORT: 'x', ROLE: 'y' })).toThrow(/^PORT: .*\nROLE: .*$/);
    expect(() => readdirSync(dataDir)).toThrow(/ENOENT/);
  });

  it('reports that the data folder cannot be written', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'keys-')), 'file');
    writeFileSync(file, '');
    expect(() => prepareKeys({ DATA_DIR: join(file, 'below') })).toThrow(
      /^DATA_DIR: got ".*below", expected a folder that this process can write \(ENOTDIR/,
    );
    expect(readFileSync(file, 'utf8')).toBe('');
  });
});

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { generateEncryptionKey } from '../../config/generate-encryption-key.ts';
import { loadSettings } from '../../config/load-settings.ts';
import { prepareKeys } from '../../config/prepare-keys.ts';

let dataDir: string;
let file: string;
let previous: string;
beforeEach(() => {
  dataDir = join(mkdtempSync(join(tmpdir(), 'keys-')), 'data');
  file = join(dataDir, 'encryption.key');
  previous = join(dataDir, 'encryption.key.previous');
});
const textOf = (path: string) => readFileSync(path, 'utf8').trim();

describe('a generated ENCRYPTION_KEY', () => {
  it('replaces the file, and the earlier key is ENCRYPTION_KEY_PREVIOUS until its file is removed', () => {
    const first = prepareKeys({ DATA_DIR: dataDir });
    mkdirSync(join(dataDir, 'pgdata'));
    expect(generateEncryptionKey({ DATA_DIR: dataDir })).toEqual({ file, previous });
    const both = prepareKeys({ DATA_DIR: dataDir });
    expect(both).toEqual({ ...first, ENCRYPTION_KEY: textOf(file), ENCRYPTION_KEY_PREVIOUS: first.ENCRYPTION_KEY });
    expect(loadSettings(both).encryptionKey).not.toEqual(loadSettings(first).encryptionKey);
    for (const path of [file, previous]) expect(statSync(path).mode & 0o777).toBe(0o600);
    rmSync(previous);
    expect(prepareKeys({ DATA_DIR: dataDir })).toEqual({ ...first, ENCRYPTION_KEY: textOf(file) });
    expect(readdirSync(dataDir).sort()).toEqual(['cluster.key', 'encryption.key', 'pgdata']);
  });

  it('does not replace an earlier key that the database may need', () => {
    prepareKeys({ DATA_DIR: dataDir });
    generateEncryptionKey({ DATA_DIR: dataDir });
    const before = [textOf(file), textOf(previous)];
    expect(() => generateEncryptionKey({ DATA_DIR: dataDir })).toThrow(`${previous} exists, so a replacement is in progress`);
    expect([textOf(file), textOf(previous)]).toEqual(before);
  });

  it('is completed by another run if the first was interrupted between the two files', () => {
    const { ENCRYPTION_KEY } = prepareKeys({ DATA_DIR: dataDir });
    copyFileSync(file, previous);
    expect(prepareKeys({ DATA_DIR: dataDir }).ENCRYPTION_KEY_PREVIOUS).toBeUndefined();
    generateEncryptionKey({ DATA_DIR: dataDir });
    expect([textOf(previous), textOf(file) === ENCRYPTION_KEY]).toEqual([ENCRYPTION_KEY, false]);
  });

  it('is refused if the key is a setting, or if there is no file', () => {
    expect(() => generateEncryptionKey({ DATA_DIR: dataDir })).toThrow(`${file} does not exist`);
    const { ENCRYPTION_KEY } = prepareKeys({ DATA_DIR: dataDir });
    expect(() => generateEncryptionKey({ DATA_DIR: dataDir, ENCRYPTION_KEY })).toThrow('the setting is used instead of a file');
    expect(existsSync(previous)).toBe(false);
  });

  it('names the file of an earlier key that is damaged, without repeating it', () => {
    prepareKeys({ DATA_DIR: dataDir });
    writeFileSync(previous, 'hunter2-hunter2');
    const start = () => prepareKeys({ DATA_DIR: dataDir });
    expect(start).toThrow(`ENCRYPTION_KEY_PREVIOUS: the file ${previous} contains no valid key`);
    expect(start).not.toThrow('hunter2');
  });

  it('names DATA_DIR if the file of an earlier key cannot be read', () => {
    prepareKeys({ DATA_DIR: dataDir });
    mkdirSync(previous);
    expect(() => prepareKeys({ DATA_DIR: dataDir })).toThrow(/^DATA_DIR: got ".*", expected a folder .*\(EISDIR: /);
  });
});

import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StoredDocument } from '../../../core/documents/document-store.ts';
import { readLastKnownGood, writeLastKnownGood } from '../../../core/documents/last-known-good.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { sampleKey } from '../../support/samples/sample-documents.ts';

let directory: string;
let log: ReturnType<typeof newMemoryLog>;
const key = new Uint8Array(32).fill(3);

beforeEach(async () => {
  directory = join(await mkdtemp(join(tmpdir(), 'svc-known-')), 'last-known-good');
  log = newMemoryLog();
});
afterEach(() => rm(join(directory, '..'), { recursive: true }));

const disk = (slot: number, changes: { key?: Uint8Array } = {}) => ({ directory, slot, key, log, ...changes });
const stored = (id: string, revision = 1, fresh = true): StoredDocument => ({
  kind: 'api-key',
  id,
  document: sampleKey(id, { keyId: `planted secret of ${id} at ${revision}` }),
  revision,
  fresh,
});

describe('the last-known-good file', () => {
  it('returns what was written', async () => {
    const documents = Array.from({ length: 200 }, (_, i) => stored(`key-${i}`, i + 1));
    await writeLastKnownGood(disk(0), { lastRevision: 321, mark: 'mark-1', documents });
    expect(await readLastKnownGood(disk(0))).toEqual({ lastRevision: 321, mark: 'mark-1', documents });
  });

  it('reveals none of its content, and is readable by its owner only', async () => {
    await writeLastKnownGood(disk(0), { lastRevision: 1, mark: null, documents: [stored('key-a')] });
    const path = join(directory, 'slot-0.lkg');
    const text = await readFile(path, 'latin1');
    expect(text).not.toContain('planted');
    expect(text).not.toContain('key-a');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
  });

  it('is complete or absent: leftovers of a killed writer are removed', async () => {
    await writeLastKnownGood(disk(0), { lastRevision: 1, mark: null, documents: [stored('key-a')] });
    await writeFile(join(directory, '.slot-0.4711.draft'), 'half a fi');
    expect(await readLastKnownGood(disk(0))).toMatchObject({ lastRevision: 1 });
    expect(await readdir(directory)).toEqual(['slot-0.lkg']);
  });
});

describe('the last known good is skipped with a warning', () => {
  it('if the file has another key', async () => {
    await writeLastKnownGood(disk(0), { lastRevision: 1, mark: null, documents: [stored('key-a')] });
    expect(await readLastKnownGood(disk(0, { key: new Uint8Array(32).fill(4) }))).toBeNull();
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { file: 'slot-0.lkg' } }]);
  });

  it('if the file was cut or altered anywhere', async () => {
    const path = join(directory, 'slot-0.lkg');
    await writeLastKnownGood(disk(0), {
      lastRevision: 1,
      mark: null,
      documents: Array.from({ length: 100 }, (_, i) => stored(`key-${i}`)),
    });
    const good = await readFile(path);
    for (let i = 1; i <= 20; i++) {
      const at = Math.floor((good.length * i) / 21);
      await writeFile(path, good.subarray(0, at));
      expect(await readLastKnownGood(disk(0))).toBeNull();
      const altered = Buffer.from(good);
      altered[at] = altered[at] === 0x41 ? 0x42 : 0x41;
      await writeFile(path, altered);
      expect(await readLastKnownGood(disk(0))).toBeNull();
    }
    expect(log.lines).toHaveLength(40);
  });

  it('if a line comes from another file', async () => {
    await writeLastKnownGood(disk(0), { lastRevision: 1, mark: null, documents: [stored('key-a')] });
    await writeLastKnownGood(disk(1), { lastRevision: 2, mark: null, documents: [stored('key-a', 2)] });
    const [a, b] = await Promise.all([0, 1].map((slot) => readFile(join(directory, `slot-${slot}.lkg`), 'latin1')));
    const lines = a!.split('\n');
    lines[2] = b!.split('\n')[2]!;
    await writeFile(join(directory, 'slot-0.lkg'), lines.join('\n'));
    expect(await readLastKnownGood(disk(0))).toMatchObject({ lastRevision: 2 });
    expect(log.lines).toHaveLength(1);
  });

  it('except if there are no files yet', async () => {
    expect(await readLastKnownGood(disk(0))).toBeNull();
    expect(log.lines).toEqual([]);
  });
});

describe('last-known-good files of several processes', () => {
  it('are shared; documents from an outdated file are read again', async () => {
    await writeLastKnownGood(disk(0), { lastRevision: 9, mark: null, documents: [stored('both', 8), stored('first', 3)] });
    await writeLastKnownGood(disk(1), { lastRevision: 5, mark: null, documents: [stored('both', 4), stored('second', 5)] });
    const known = await readLastKnownGood(disk(2));
    expect(known?.lastRevision).toBe(9);
    expect(known?.documents.map(({ id, revision, fresh }) => ({ id, revision, fresh }))).toEqual([
      { id: 'both', revision: 8, fresh: true },
      { id: 'first', revision: 3, fresh: true },
      { id: 'second', revision: 5, fresh: false },
    ]);
  });

  it('are joined: of a document that only one of them had read again, that version is used', async () => {
    const [old, read] = [(id: string) => stored(id, 3, false), (id: string) => stored(id, 9)];
    await writeLastKnownGood(disk(0), { lastRevision: 9, mark: 'm', documents: [old('a'), read('b')] });
    await writeLastKnownGood(disk(1), { lastRevision: 9, mark: 'm', documents: [read('a'), old('b')] });
    expect((await readLastKnownGood(disk(2)))?.documents).toEqual([read('a'), read('b')]);
  });

  it('are read again if two of them have the same revision of different histories, as after a restore of the database', async () => {
    await writeLastKnownGood(disk(0), { lastRevision: 9, mark: 'before', documents: [stored('first', 3)] });
    await writeLastKnownGood(disk(1), { lastRevision: 9, mark: 'after', documents: [stored('second', 5)] });
    const known = await readLastKnownGood(disk(2));
    const ofMark = known?.mark === 'before' ? 'first' : 'second';
    expect(known?.documents.filter(({ fresh }) => fresh).map(({ id }) => id)).toEqual([ofMark]);
  });
});

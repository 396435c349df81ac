import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddedDatabase, openEmbeddedDatabase } from '../../../admin/db/embedded-database.ts';
import { copyEmptyDatabase } from '../support/pgdata-template.ts';

const onCrash = (error: Error) => expect.unreachable(error.message);

describe('the embedded database in its thread', () => {
  let parentDir: string;
  let database: EmbeddedDatabase;
  beforeAll(async () => {
    parentDir = await mkdtemp(join(tmpdir(), 'svc-embedded-'));
    await copyEmptyDatabase(parentDir);
    database = await openEmbeddedDatabase({ dataDir: join(parentDir, 'pgdata'), startParams: [] }, { onCrash });
    await database.query('create table things (id int primary key, at timestamptz, bytes bytea)');
  });
  afterAll(async () => {
    await database?.close();
    await rm(parentDir, { recursive: true, force: true });
  });

  it('leaves the event loop free while a statement runs', async () => {
    const order: string[] = [];
    const statement = database.query('select count(*) from generate_series(1, 300000)').then(() => order.push('statement'));
    await nextTurn();
    order.push('turn');
    await statement;
    expect(order).toEqual(['turn', 'statement']);
  });

  it('binds values, returns bytes as bytes and times as text, and of several statements the last result', async () => {
    const at = new Date('2026-11-02T03:04:05Z');
    const stored = await database.query('insert into things values ($1, $2, $3)', [1, at, new Uint8Array([1, 2])]);
    expect(stored.affectedRows).toBe(1);
    const { rows } = await database.query(`set time zone 'UTC'; select id, at, bytes from things`);
    expect(rows).toEqual([{ id: 1, at: '2026-11-02 03:04:05+00', bytes: new Uint8Array([1, 2]) }]);
  });

  it('makes other statements wait for the end of a transaction, and undoes one that fails', async () => {
    let seen: Promise<{ readonly rows: readonly unknown[] }> | null = null;
    const failing = database.transaction(async (tx) => {
      await tx.query('insert into things values (7)');
      seen = database.query('select id from things where id = 7');
      await tx.query('select 1 / 0');
    });
    await expect(failing).rejects.toMatchObject({ message: 'division by zero', code: '22012' });
    expect((await (seen as unknown as ReturnType<EmbeddedDatabase['query']>)).rows).toEqual([]);
    await database.transaction((tx) => tx.query('insert into things values (8)'));
    expect((await database.query('select id from things where id = 8')).rows).toEqual([{ id: 8 }]);
  });

  it('rejects with the fields of PostgreSQL, without the statement and its values', async () => {
    await database.query('insert into things values (9)');
    const error = await database.query('insert into things (id, bytes) values ($1, $2)', [9, Buffer.from('secret')]).then(
      () => null,
      (thrown: Error) => thrown,
    );
    expect(error).toMatchObject({ code: '23505', constraint: 'things_pkey', table: 'things' });
    expect(Object.keys(error ?? {})).not.toContain('query');
    expect(Object.keys(error ?? {})).not.toContain('params');
  });

  it('rejects if the folder has no working database', async () => {
    await expect(openEmbeddedDatabase({ dataDir: '/dev/null/pgdata', startParams: [] }, { onCrash })).rejects.toThrow();
  });

  it('is created in an empty folder, also after a process was killed while it did so', async () => {
    const dataDir = join(parentDir, 'first', 'pgdata');
    await mkdir(dataDir, { recursive: true });
    await mkdir(`${dataDir}.new/base`, { recursive: true });
    await writeFile(`${dataDir}.new/base/unfinished`, '');
    const created = await openEmbeddedDatabase({ dataDir, startParams: [] }, { onCrash });
    expect((await created.query('show server_encoding')).rows).toEqual([{ server_encoding: 'UTF8' }]);
    await created.close();
    expect(await readdir(join(parentDir, 'first'))).toEqual(['pgdata']);
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
  });

  it('never replaces files that are no database', async () => {
    const dataDir = join(parentDir, 'others');
    await mkdir(dataDir);
    await writeFile(join(dataDir, 'notes'), 'mine');
    await expect(openEmbeddedDatabase({ dataDir, startParams: [] }, { onCrash })).rejects.toThrow(
      'the folder has files, but no PG_VERSION',
    );
    expect(await readFile(join(dataDir, 'notes'), 'utf8')).toBe('mine');
  });

  it('rejects statements after its end, and can be closed twice', async () => {
    const copy = await mkdtemp(join(parentDir, 'closed-'));
    await copyEmptyDatabase(copy);
    const closed = await openEmbeddedDatabase({ dataDir: join(copy, 'pgdata'), startParams: [] }, { onCrash });
    await Promise.all([closed.close(), closed.close()]);
    await expect(closed.query('select 1')).rejects.toThrow('PGlite is closed');
  });

  it.each([
    [
      'reports a crash when an error leaves it in a state in which no statement works',
      // More than the current file of the log holds.
      `insert into things select g, null, decode(repeat(md5(g::text), 30), 'hex') from generate_series(100, 40000) g`,
      Number.POSITIVE_INFINITY,
      'no statement works: ',
    ],
    [
      'reports a crash when a statement does not end and the disk is full',
      `select pg_switch_wal(); insert into things values (100)`,
      1024 * 1024,
      'DATA_DIR: its disk has 1.0 MiB left, and the embedded database needs 16 MiB for its next log file. Free space on it.',
    ],
  ])('%s', async (_title, statement, free, message) => {
    const copy = await mkdtemp(join(parentDir, 'crashed-'));
    await copyEmptyDatabase(copy);
    const dataDir = join(copy, 'pgdata');
    let crashWith: (error: Error) => void = () => {};
    const crashed = new Promise<Error>((resolve) => {
      crashWith = resolve;
    });
    let freeNow = Number.POSITIVE_INFINITY;
    const options = { onCrash: crashWith, slowMs: 100, freeBytes: async () => freeNow };
    const crashing = await openEmbeddedDatabase({ dataDir, startParams: [] }, options);
    await crashing.query('create table things (id int primary key, at timestamptz, bytes bytea)');
    // The next file of the log cannot be created, as on a full disk.
    await rm(join(dataDir, 'pg_wal'), { recursive: true });
    freeNow = free;
    const failing = expect(crashing.query(statement)).rejects.toThrow(message);
    expect((await crashed).message).toContain(message);
    await failing;
    await expect(crashing.query('select 1')).rejects.toThrow(message);
    await crashing.close();
  });
});

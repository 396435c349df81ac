import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openDatabase } from '../../../admin/db/open-database.ts';
import { entities, migrations } from '../../../admin/tables.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { copyEmptyDatabase } from '../support/pgdata-template.ts';

it.runIf(process.platform === 'linux')(
  'the embedded database keeps at most 200 files open, however many tables it reads',
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'svc-open-files-'));
    await copyEmptyDatabase(dataDir);
    const database = await openDatabase({ databaseUrl: null, dbPoolSize: 1, dataDir }, { entities, migrations }, newMemoryLog());
    const tables = Array.from({ length: 300 }, (_, n) => `t${n}`);
    await database.em().execute(tables.map((name) => `create table ${name} (id int)`).join(';'));
    await database.em().execute(`select ${tables.map((name) => `(select count(*) from ${name})`).join(' + ')}`);
    const open = await Promise.all((await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
    const ofDatabase = open.filter((path) => path.startsWith(dataDir)).length;
    expect(ofDatabase).toBeGreaterThan(50);
    expect(ofDatabase).toBeLessThanOrEqual(200);
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  },
);

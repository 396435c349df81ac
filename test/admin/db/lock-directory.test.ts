import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lockDirectory } from '../../../admin/db/lock-directory.ts';
import { hasSmallDisk, runOnSmallDisk } from '../../support/processes/small-disk.ts';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-lock-'));
  file = join(directory, 'pgdata.lock');
});
afterEach(() => rm(directory, { recursive: true, force: true }));

it('directory lock: rejects a second holder and is free after release', async () => {
  const lock = await lockDirectory(file);
  await expect(lockDirectory(file, 0)).rejects.toThrow(/in use by process \d+/);
  await lock.release();
  await lock.release();
  await (await lockDirectory(file, 0)).release();
});

it('directory lock: waits for a holder that is about to end', async () => {
  const lock = await lockDirectory(file);
  const next = lockDirectory(file, 5_000);
  await lock.release();
  await (await next).release();
});

it('directory lock: is taken over from an ended process, also if its id belongs to another one now', async () => {
  for (const stale of ['999999999 1', `${process.pid} 1`, 'nonsense', '']) {
    await writeFile(file, stale);
    const lock = await lockDirectory(file, 0);
    expect((await readFile(file, 'utf8')).startsWith(`${process.pid} `)).toBe(true);
    await lock.release();
  }
});

it.skipIf(!hasSmallDisk)('directory lock: on a full disk the error names DATA_DIR and the file', () => {
  const module = join(import.meta.dirname, '../../../admin/db/lock-directory.ts');
  const lock = `import(process.env.MODULE).then((it) => it.lockDirectory(process.env.DISK + '/pgdata.lock')).catch((error) => console.log(error.message))`;
  const fill = 'dd if=/dev/zero of="$DISK/full" bs=64k 2>/dev/null';
  const { stdout } = runOnSmallDisk(`${fill}; "$NODE" -e "$LOCK"`, { MODULE: module, LOCK: lock });
  expect(stdout).toMatch(/^DATA_DIR: cannot write .*\/pgdata\.lock \(ENOSPC: .*\)\n$/);
});

import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { folderMark, isFolderMarkAlive } from '../../config/process-mark.ts';
import { messageOf } from '../../core/contract/values/errors/message-of.ts';

/** Lock on the embedded database, held while a process uses it. */
export interface DirectoryLock {
  /** Safe to call twice. */
  release(): Promise<void>;
}

/**
 * Takes the lock file for this process. A lock of a process that has ended (killed, machine restarted) is taken over at once. A
 * lock of a running process is awaited, because a restarted control plane may overlap with its closing predecessor. Rejects after
 * `waitMs` milliseconds, because two processes would destroy an embedded database.
 */
export async function lockDirectory(file: string, waitMs = 10_000): Promise<DirectoryLock> {
  const folder = dirname(file);
  const mine = folderMark(process.pid, folder);
  const deadline = performance.now() + waitMs;
  for (;;) {
    if (await create(file, mine)) return { release: () => releaseIfMine(file, mine) };
    const holder = await readFile(file, 'utf8').catch(() => '');
    if (!isFolderMarkAlive(holder, folder)) {
      await rm(file, { force: true });
    } else if (performance.now() > deadline) {
      throw new Error(`the embedded database is in use by process ${holder.split(' ')[0]} (${file}). Stop the service first`);
    } else {
      await sleep(50);
    }
  }
}

/** Returns false if the file exists. A file that stays empty on a full disk is taken over by the next start. */
async function create(file: string, content: string): Promise<boolean> {
  try {
    await writeFile(file, content, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    // Node names no file for a failed write.
    throw new Error(`DATA_DIR: cannot write ${file} (${messageOf(error)})`, { cause: error });
  }
}

async function releaseIfMine(file: string, mine: string): Promise<void> {
  if ((await readFile(file, 'utf8').catch(() => '')) === mine) await rm(file, { force: true });
}

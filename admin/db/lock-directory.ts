import { readFileSync } from 'node:fs';
import { open, readFile, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Held while a process works on the embedded database. */
export interface DirectoryLock {
  /** Safe to call twice. */
  release(): Promise<void>;
}

/**
 * Takes the lock file for this process. A lock left by a process that is gone (killed, machine restarted) is taken over at
 * once; one held by a living process is waited for, because a restarted control plane may meet its predecessor closing.
 * Rejects after `waitMs`: two processes on one embedded database would destroy it.
 */
export async function lockDirectory(file: string, waitMs = 10_000): Promise<DirectoryLock> {
  const mine = `${process.pid} ${startedAt(process.pid)}`;
  const deadline = performance.now() + waitMs;
  for (;;) {
    if (await create(file, mine)) return { release: () => releaseIfMine(file, mine) };
    const holder = await readFile(file, 'utf8').catch(() => '');
    if (!isAlive(holder)) {
      await rm(file, { force: true });
    } else if (performance.now() > deadline) {
      throw new Error(`the embedded database is in use by process ${holder.split(' ')[0]} (${file})`);
    } else {
      await sleep(50);
    }
  }
}

async function create(file: string, content: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx', 0o600);
    await handle.writeFile(content);
    await handle.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function releaseIfMine(file: string, mine: string): Promise<void> {
  if ((await readFile(file, 'utf8').catch(() => '')) === mine) await rm(file, { force: true });
}

function isAlive(holder: string): boolean {
  const [pidText, started] = holder.split(' ');
  const pid = Number(pidText);
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  // Process ids are used again: the same number with another start time is another process.
  return started === startedAt(pid);
}

/** Start time of a process in clock ticks since boot, where the system tells (Linux: proc(5), field 22); else `-`. */
function startedAt(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '-';
  } catch {
    return '-';
  }
}

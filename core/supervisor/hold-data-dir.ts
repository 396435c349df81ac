import { accessSync, constants, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder } from '../../config/make-folder.ts';
import { folderMark, isFolderMarkAlive } from '../../config/process-mark.ts';
import type { Settings } from '../../config/settings.ts';

/** Exclusive use of a data directory. `release` is safe to call twice. */
export type DataDirHold = { readonly error: string } | { readonly error: null; release(): void };

/** Time to wait for a previous run that is about to end. */
const waitMsDefault = 2000;
const pauseMs = 50;

/**
 * Takes DATA_DIR for this process. Two services in one folder would ship, and then delete, each other's records. Gateways and
 * control plane of one machine may share it as two services. The mark of a process that has ended is replaced. `issue` is a
 * message for the operator. Throws the errors of the file system.
 */
export async function holdDataDir(settings: Pick<Settings, 'dataDir' | 'role'>, waitMs = waitMsDefault): Promise<DataDirHold> {
  makeFolder(settings.dataDir);
  const parts = settings.role === 'all' ? ['control-plane', 'gateway'] : [settings.role];
  const mine = folderMark(process.pid, settings.dataDir);
  const held: string[] = [];
  const release = (): void => {
    for (const file of held.splice(0)) if (contentOf(file) === mine) rmSync(file, { force: true });
  };
  const deadlineMs = performance.now() + waitMs;
  for (const file of parts.map((part) => join(settings.dataDir, `${part}.running`))) {
    while (!create(file, mine)) {
      const holder = contentOf(file);
      if (!isFolderMarkAlive(holder, settings.dataDir)) {
        rmSync(file, { force: true });
      } else if (performance.now() > deadlineMs) {
        release();
        const pid = holder.split(' ')[0];
        return {
          error: `DATA_DIR: got "${settings.dataDir}", expected a folder that no other service uses, but process ${pid} uses it`,
        };
      } else {
        await sleep(pauseMs);
      }
    }
    held.push(file);
  }
  const closed = closedTo(settings.dataDir);
  if (closed === null) return { error: null, release };
  release();
  const user = process.getuid?.() ?? 'this user';
  return {
    error:
      `DATA_DIR: got "${settings.dataDir}", expected files that user ${user} can read and write (${closed}). ` +
      `Start the service as their owner, or change it: chown -R ${user} ${settings.dataDir}`,
  };
}

/** Files of the service below DATA_DIR. Other files there, such as an object store, are not checked: there may be millions. */
const ownEntries = [
  'audit-anchors.jsonl',
  'first-keys.json',
  'instance-ids',
  'last-known-good',
  'lease-holders',
  'pgdata',
  'spool',
  'start-reserve',
];

/**
 * Returns why a file of an earlier run cannot be used, such as one that a command created as root; null if all can. Without this
 * check each process would fail at its first use of the file, possibly long after the start.
 */
function closedTo(dataDir: string): string | null {
  try {
    for (const name of ownEntries) {
      const path = join(dataDir, name);
      const entry = statSync(path, { throwIfNoEntry: false });
      if (entry) check(path, entry.isDirectory());
    }
    return null;
  } catch (error) {
    // A service that shares the folder has removed it meanwhile.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    return (error as Error).message;
  }
}

function check(path: string, isFolder: boolean): void {
  accessSync(path, constants.R_OK | constants.W_OK);
  if (!isFolder) return;
  for (const entry of readdirSync(path, { withFileTypes: true })) check(`${path}/${entry.name}`, entry.isDirectory());
}

function create(file: string, content: string): boolean {
  try {
    writeFileSync(file, content, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

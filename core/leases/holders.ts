import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isUuid } from '../contract/values/text/uuid.ts';

/** Ids under which gateway processes hold leases. Each process has its own id; its successor in the slot reads it from disk. */
export interface Holders {
  readonly own: string;
  /** Earlier processes whose leases the ledger may still have. */
  readonly earlier: readonly string[];
  /** Removes earlier ids whose leases the ledger has released. */
  forget(released: readonly string[]): void;
}

export interface HoldersOptions {
  readonly directory: string;
  readonly slot: number;
  /** Number of gateway processes on this machine. Slots beyond it are unused, and slot 0 takes them over. */
  readonly processes: number;
  /** Random UUID. */
  readonly newId: () => string;
}

/** Stores this process as the holder of its slot, after the earlier ones. Throws if the file cannot be written. */
export function openHolders({ directory, slot, processes, newId }: HoldersOptions): Holders {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, String(slot));
  const orphans = slot === 0 ? slotsIn(directory).filter((one) => one >= processes) : [];
  const own = newId();
  let earlier = [...new Set([slot, ...orphans].flatMap((one) => read(join(directory, String(one)))))];
  write(path, [...earlier, own]);
  for (const orphan of orphans) rmSync(join(directory, String(orphan)), { force: true });
  return {
    own,
    get earlier() {
      return earlier;
    },
    forget(released) {
      earlier = earlier.filter((id) => !released.includes(id));
      write(path, [...earlier, own]);
    },
  };
}

function slotsIn(directory: string): number[] {
  return readdirSync(directory)
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function read(path: string): string[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => isUuid(line));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Writes in one step, so that a process that is killed during the write leaves the previous file. */
function write(path: string, ids: readonly string[]): void {
  writeFileSync(`${path}.new`, `${ids.join('\n')}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

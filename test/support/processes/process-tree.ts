import { readdirSync, readFileSync } from 'node:fs';

/** Returns the direct children of a process, from Linux's `/proc`. */
export function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

/**
 * False when a process has ended, even if its parent has not collected it yet. A process whose main thread has ended while others
 * still end has sockets and files, and counts as running.
 */
export function isAlive(pid: number): boolean {
  try {
    if (!/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) return true;
    return readdirSync(`/proc/${pid}/task`).length > 1;
  } catch {
    return false;
  }
}

import { readFileSync } from 'node:fs';
import type { Death, SupervisorClock } from './supervised-child.ts';

/** Counter of Linux 4.13 and newer: processes that the kernel has killed for lack of memory, those of containers included. */
const counters = '/proc/vmstat';

/**
 * Returns a function that explains a signal that neither the process nor this supervisor has sent. The kernel and an operator both kill with
 * SIGKILL; the kernel also counts its kills.
 */
export function createProbableCause(
  clock: Pick<SupervisorClock, 'elapsed'>,
  file = counters,
): (death: Pick<Death, 'signal' | 'wasKilled'>) => { probableCause?: string } {
  let known = oomKills(file);
  let countedAtMs = -Infinity;
  return ({ signal, wasKilled }) => {
    if (signal === 'SIGABRT') return { probableCause: 'its heap was full, or its code failed; standard error has the reason' };
    if (signal !== 'SIGKILL' || wasKilled) return {};
    const before = known;
    known = oomKills(file);
    if (known === null || before === null) return { probableCause: `${byKernel}; or another process killed it` };
    if (known > before) countedAtMs = clock.elapsed();
    return { probableCause: clock.elapsed() - countedAtMs < togetherMs ? byKernel : byProcess };
  };
}

/** The kernel may kill several processes, and count them, before this one is notified of the first. */
const togetherMs = 5_000;
const byKernel =
  'the kernel killed it because memory was short. Compare the memory limit with GATEWAY_PROCESSES and BODY_MEMORY_MAX (docs/operations.md, Sizing)';
const byProcess =
  'another process killed it, such as kill -9 of an operator, systemd-oomd or a container runtime. The kernel has killed none for lack of memory';

/** Null if the system has no such counter. */
function oomKills(file: string): number | null {
  try {
    const count = /^oom_kill (\d+)$/m.exec(readFileSync(file, 'latin1'))?.[1];
    return count === undefined ? null : Number(count);
  } catch {
    return null;
  }
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';

/** Counts of one process while `run` ran. */
export interface ProcessCounts {
  readonly instructions: number;
  readonly cycles: number;
}

/**
 * Counts the instructions and cycles of each process while `run` runs, with `perf stat`. Unlike CPU time they do not depend on other work on the
 * machine. `main`: of the main thread only, without compilers and garbage collectors in other threads. Null if the machine has no `perf` or no
 * counters.
 */
export async function countInstructions<T>(
  pids: readonly number[],
  run: () => Promise<T>,
  threads: 'all' | 'main' = 'all',
): Promise<{ readonly result: T; readonly counts: readonly ProcessCounts[] | null }> {
  const counters = pids.map((pid) => startCounter(threads === 'all' ? '-p' : '-t', pid));
  const begun = await Promise.all(counters.map(({ begun }) => begun));
  // `perf` does not say when its counters run.
  await setTimeout(200);
  const result = await run();
  const counts = await Promise.all(counters.map(({ end }) => end()));
  const isComplete = begun.every(Boolean) && counts.every((each) => each !== null);
  return { result, counts: isComplete ? (counts as ProcessCounts[]) : null };
}

function startCounter(
  option: '-p' | '-t',
  pid: number,
): { readonly begun: Promise<boolean>; end(): Promise<ProcessCounts | null> } {
  const perf = spawn('perf', ['stat', '-x,', '-e', 'instructions,cycles', option, String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  perf.stderr.on('data', (chunk) => {
    text += chunk;
  });
  const ended = once(perf, 'close').catch(() => null);
  const begun = once(perf, 'spawn').then(
    () => true,
    () => false,
  );
  return {
    begun,
    async end() {
      if (!(await begun)) return null;
      perf.kill('SIGINT');
      await ended;
      const of = (name: string): number => Number(new RegExp(`^(\\d+),[^\\n]*${name}`, 'm').exec(text)?.[1] ?? Number.NaN);
      const counts = { instructions: of('instructions'), cycles: of('cycles') };
      return Number.isNaN(counts.instructions) ? null : counts;
    },
  };
}

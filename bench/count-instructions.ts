import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { findProgram } from './processes.ts';

/** Counts of one process while `run` ran, in user mode and in the kernel. */
export interface ProcessCounts {
  readonly instructions: number;
  readonly cycles: number;
}

/**
 * Counts the instructions and cycles of each process while `run` runs, with `perf stat`. Unlike CPU time, instructions do not depend on the speed of
 * the machine or on other work. `main`: of the main thread only, without compilers and garbage collectors in other threads. `counts` is null if
 * the machine has no `perf` or no counters.
 */
export async function countInstructions<T>(
  pids: readonly number[],
  run: () => Promise<T>,
  threads: 'all' | 'main' = 'all',
): Promise<{ readonly result: T; readonly counts: readonly ProcessCounts[] | null }> {
  const perf = findProgram('perf');
  if (perf === null) return { result: await run(), counts: null };
  const counters = await Promise.all(pids.map((pid) => startCounter(perf, threads === 'all' ? '-p' : '-t', pid)));
  const result = await run();
  const counts = await Promise.all(counters.map((counter) => counter?.end() ?? null));
  return { result, counts: counts.every((each) => each !== null) ? counts : null };
}

/** Resolves when the counters run. Null if perf ended instead, because it may not count. */
async function startCounter(
  perf: string,
  option: '-p' | '-t',
  pid: number,
): Promise<{ end(): Promise<ProcessCounts | null> } | null> {
  const args = ['stat', '-D', '-1', '--control', 'fd:3,4', '-x', ',', '-e', 'instructions,cycles', option, String(pid)];
  const child = spawn(perf, args, { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'] });
  let report = '';
  child.stderr?.on('data', (text) => {
    report += text;
  });
  // A perf that has ended fails the next command.
  child.stdio[3]?.on('error', () => undefined);
  const ended = once(child, 'close');
  /** Sends a command and waits until perf has carried it out. */
  const command = (word: 'enable' | 'disable'): Promise<boolean> => {
    const done = once(child.stdio[4] as Readable, 'data').then(() => true);
    (child.stdio[3] as Writable).write(`${word}\n`);
    return Promise.race([done, ended.then(() => false)]);
  };
  if (!(await command('enable'))) return null;
  return {
    async end() {
      await command('disable');
      child.kill('SIGINT');
      await ended;
      const of = (name: string): number => Number(new RegExp(`^(\\d+),[^\\n]*${name}`, 'm').exec(report)?.[1] ?? Number.NaN);
      const counts = { instructions: of('instructions'), cycles: of('cycles') };
      return Number.isNaN(counts.instructions) ? null : counts;
    },
  };
}

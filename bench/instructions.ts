import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { findProgram } from './processes.ts';

/** Counts while it runs. `stop` returns what the processes executed since the start, or null if the machine does not count. */
export interface InstructionCounter {
  stop(): Promise<number | null>;
}

const off: InstructionCounter = { stop: async () => null };

/**
 * Counts the instructions of these processes, user and kernel, all threads that exist now, with Linux `perf stat`. Unlike processor
 * time, they do not depend on the speed of the machine or on other load. Without `perf`, or where the machine has no counters, the
 * result is null.
 */
export async function countInstructions(pids: readonly number[]): Promise<InstructionCounter> {
  const perf = findProgram('perf');
  if (!perf || pids.length === 0) return off;
  const args = ['stat', '-D', '-1', '--control', 'fd:3,4', '-x', ',', '-e', 'instructions', '-p', pids.join(',')];
  const child = spawn(perf, args, { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'] });
  let report = '';
  child.stderr?.on('data', (text) => {
    report += text;
  });
  // perf ends at once if it may not count. Its pipe then fails the first command.
  child.stdio[3]?.on('error', () => undefined);
  const ended = once(child, 'close');
  if (!(await command(child, 'enable', ended))) return off;
  return {
    async stop() {
      await command(child, 'disable', ended);
      child.kill('SIGINT');
      await ended;
      const counted = /^(\d+),[^,]*,instructions/m.exec(report)?.[1];
      return counted === undefined ? null : Number(counted);
    },
  };
}

/** Sends a command to perf and waits until perf has carried it out. False if perf ended instead. */
async function command(child: ChildProcess, word: 'enable' | 'disable', ended: Promise<unknown>): Promise<boolean> {
  const done = once(child.stdio[4] as Readable, 'data').then(() => true);
  (child.stdio[3] as Writable).write(`${word}\n`);
  return Promise.race([done, ended.then(() => false)]);
}

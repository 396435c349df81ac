import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** CPU milliseconds of the main thread of a gateway process since the last call; see loop-clock.ts. */
interface LoopTimes {
  /** Longest block of the event loop. */
  readonly longestMs: number;
  /** 99 of 100 timers of 5 ms were late by less than this. */
  readonly p99DelayMs: number;
}

export interface LoopClock {
  /** Environment of the processes to be measured. */
  readonly env: Readonly<Record<string, string>>;
  take(pid: number): Promise<LoopTimes>;
  close(): Promise<void>;
}

export async function openLoopClock(): Promise<LoopClock> {
  const dir = await mkdtemp(join(tmpdir(), 'svc-loop-clock-'));
  const clock = new URL('loop-clock.ts', import.meta.url).href;
  return {
    env: { NODE_OPTIONS: `--import ${clock}`, LOOP_CLOCK_DIR: dir },
    async take(pid) {
      const file = join(dir, String(pid));
      await rm(file, { force: true });
      process.kill(pid, 'SIGUSR2');
      while (!existsSync(file)) await pause(20);
      return JSON.parse(readFileSync(file, 'utf8')) as LoopTimes;
    },
    close: () => rm(dir, { recursive: true }),
  };
}

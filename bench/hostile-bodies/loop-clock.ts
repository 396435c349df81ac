/**
 * Loaded into the processes of the gateway (`--import`). Measures the CPU time of the main thread between two ticks of 5 ms: a step that
 * blocks the event loop shows in full, the load of other processes does not. SIGUSR2 writes the largest value in milliseconds and the delay
 * that 99 of 100 ticks stay below to `LOOP_CLOCK_DIR/<pid>`, as JSON, and starts again.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

const tickMs = 5;
const dir = process.env.LOOP_CLOCK_DIR;
/** Not in the types of Node 22 yet. */
const { threadCpuUsage } = process as unknown as { threadCpuUsage(): NodeJS.CpuUsage };

if (isMainThread && dir) {
  let last = usedMs();
  let gapsMs: number[] = [];
  setInterval(() => {
    const now = usedMs();
    gapsMs.push(now - last);
    last = now;
  }, tickMs).unref();
  process.on('SIGUSR2', () => {
    const file = join(dir, String(process.pid));
    const sorted = gapsMs.sort((a, b) => a - b);
    gapsMs = [];
    const longestMs = sorted.at(-1) ?? 0;
    const p99DelayMs = Math.max(0, (sorted[Math.floor(sorted.length * 0.99)] ?? 0) - tickMs);
    writeFileSync(`${file}.new`, JSON.stringify({ longestMs, p99DelayMs }));
    renameSync(`${file}.new`, file);
  });
}

function usedMs(): number {
  const { user, system } = threadCpuUsage();
  return (user + system) / 1000;
}

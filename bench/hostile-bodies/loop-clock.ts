/**
 * Loaded into the processes of the gateway (`--import`). Measures the CPU time of the main thread between two ticks of 5 ms: a step that
 * blocks the event loop shows in full, the load of other processes does not. SIGUSR2 writes the largest value in milliseconds to
 * `LOOP_CLOCK_DIR/<pid>` and starts again.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

const dir = process.env.LOOP_CLOCK_DIR;
/** Not in the types of Node 22 yet. */
const { threadCpuUsage } = process as unknown as { threadCpuUsage(): NodeJS.CpuUsage };

if (isMainThread && dir) {
  let last = usedMs();
  let longestMs = 0;
  setInterval(() => {
    const now = usedMs();
    longestMs = Math.max(longestMs, now - last);
    last = now;
  }, 5).unref();
  process.on('SIGUSR2', () => {
    const file = join(dir, String(process.pid));
    writeFileSync(`${file}.new`, longestMs.toFixed(1));
    renameSync(`${file}.new`, file);
    longestMs = 0;
  });
}

function usedMs(): number {
  const { user, system } = threadCpuUsage();
  return (user + system) / 1000;
}

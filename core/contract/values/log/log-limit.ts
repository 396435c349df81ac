import type { Log } from './log.ts';

/** Lines per second and process: callers without a key must not fill the log, and callers with one must not drown the rest of it. */
const linesPerSecond = { withoutKey: 10, withKey: 100 };

/**
 * Limits the log lines that requests cause. The returned function is true if the next line may be written. The number of omitted
 * lines of a second is logged. `after` calls back once after a time in milliseconds.
 */
export function createLogLimit(
  log: Log,
  after: (ms: number, callback: () => void) => void = afterMs,
): (hasKey: boolean) => boolean {
  let withKey = 0;
  let withoutKey = 0;
  let omitted = 0;

  function startSecond(): void {
    if (omitted > 0) log.info({ omitted }, 'request log lines omitted: too many in one second');
    withKey = 0;
    withoutKey = 0;
    omitted = 0;
  }

  return (hasKey) => {
    if (withKey + withoutKey === 0) after(1000, startSecond);
    if (hasKey ? ++withKey <= linesPerSecond.withKey : ++withoutKey <= linesPerSecond.withoutKey) return true;
    omitted += 1;
    return false;
  };
}

function afterMs(ms: number, callback: () => void): void {
  setTimeout(callback, ms).unref();
}

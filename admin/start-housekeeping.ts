import { hourMs } from '../core/contract/values/time/durations.ts';
import type { HousekeepingServices, HousekeepingTask } from './define-resource.ts';
import { failureFields } from './failure-fields.ts';

/** Hourly work that may be late. */
export interface Housekeeping {
  /** Waits for the running task. */
  close(): Promise<void>;
}

const everyMs = hourMs;

/** Runs every task at once and then every hour, one after the other. A task that fails is logged and runs again an hour later. */
export function startHousekeeping(
  tasks: readonly HousekeepingTask[],
  services: Omit<HousekeepingServices, 'isClosing'>,
): Housekeeping {
  let closed = false;
  const isClosing = () => closed;

  async function run(): Promise<void> {
    for (const task of tasks) {
      if (closed) return;
      try {
        await task.run({ ...services, isClosing });
      } catch (cause) {
        services.log.warn({ task: task.name, ...failureFields(cause) }, 'a housekeeping task failed; it runs again in an hour');
      }
    }
  }

  let running = run();
  const timer = setInterval(() => {
    running = running.then(run);
  }, everyMs);
  timer.unref();
  return {
    async close() {
      closed = true;
      clearInterval(timer);
      await running;
    },
  };
}

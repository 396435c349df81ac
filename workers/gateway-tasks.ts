import type { TaskRunner } from '../core/contract/plugin/services/worker-tasks.ts';
import { createWorkerPool, type WorkerPool, type WorkerPoolOptions } from './pool.ts';
import { tasks } from './tasks/index.ts';

/** The pool of a gateway process with all tasks of `tasks/index.ts`. */
export type GatewayTasks = WorkerPool<typeof tasks> & TaskRunner;

export function createGatewayTasks(options: WorkerPoolOptions): GatewayTasks {
  return createWorkerPool(tasks, options) as GatewayTasks;
}

/** Texts beyond this length are cut, because a count is not worth seconds of a thread. */
const countedCharsMax = 1024 * 1024;

/** Returns the texts up to the length that `count-tokens` accepts. */
export function cutForCount(texts: readonly string[]): string[] {
  const remaining: string[] = [];
  let room = countedCharsMax;
  for (const text of texts) {
    if (room <= 0) break;
    remaining.push(text.slice(0, room));
    room -= text.length;
  }
  return remaining;
}

import { wholeNumber } from '../setting-types.ts';
import { count, row } from './kinds.ts';

export const workers = {
  workerThreads: row(
    'WORKER_THREADS',
    '1',
    'Threads of each gateway process for token counts, patterns and JSON Schemas on large texts. They start with the first task, and one more while short texts wait for long ones.',
    wholeNumber(1, 64),
  ),
  workerQueueMax: row('WORKER_QUEUE', '1000', 'Tasks that may wait for a worker thread. Further tasks are rejected.', count),
  workerTaskMs: row(
    'WORKER_TASK_TIMEOUT',
    '5000',
    'Milliseconds one task may wait for a worker thread, and milliseconds it may then run before its thread is replaced.',
    wholeNumber(1, 600_000, 'milliseconds'),
  ),
  workerMemoryMegabytes: row(
    'WORKER_MEMORY',
    '256',
    'Heap of one worker thread in MiB. A task that needs more fails, and its thread is replaced.',
    wholeNumber(128, 16_384),
  ),
};

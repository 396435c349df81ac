import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { TaskOptions } from '../core/contract/plugin/services/worker-tasks.ts';
import { GatewayError } from '../core/contract/values/errors/errors.ts';
import type { Log } from '../core/contract/values/log/log.ts';
import type { Maybe } from '../core/contract/values/maybe.ts';
import { createFairQueue } from '../core/contract/values/sharing/fair-queue.ts';
import { taskFile } from './task-file.ts';
import { type Order, taskProgress } from './tasks/run-task.ts';

/** A named task. */
export interface Task<Input, Output> {
  /** File whose default export is the function that the thread calls. */
  readonly file: URL;
  /** Runs inputs of at most `sizeMax` on the calling thread; absent: the task always runs in a thread. */
  readonly inline?: { readonly sizeMax: number; sizeOf(input: Input): number; run(input: Input): Output };
  /** True: a short input may take long too, so the task never runs on the thread for short inputs. */
  readonly isUnbounded?: true;
}

// biome-ignore lint/suspicious/noExplicitAny: each task has an input and an output of its own
type Tasks = Readonly<Record<string, Task<any, any>>>;
type InputOf<Given> = Given extends Task<infer Input, infer _Output> ? Input : never;
type OutputOf<Given> = Given extends Task<infer _Input, infer Output> ? Output : never;

export interface WorkerPoolOptions {
  readonly threads: number;
  /** Maximum number of tasks that wait for a thread. */
  readonly queueMax: number;
  /** Milliseconds that a task may wait for a thread, and then run. */
  readonly taskMs: number;
  /** Heap size of one thread. */
  readonly memoryMegabytes: number;
  /** Milliseconds that a short input waits before it may use the thread for short inputs. Default 100. */
  readonly shortWaitMs?: number;
  readonly log: Pick<Log, 'warn'>;
}

/** Finished calls of one task, by outcome. `refused`: there was no room in the queue, or no thread in time. */
interface TaskCounts {
  inline: number;
  completed: number;
  failed: number;
  refused: number;
}

export interface WorkerPool<Given extends Tasks> {
  /**
   * Throws or rejects with GatewayError: `overloaded` if the queue is full or no thread is free in time, `internal` if the task fails,
   * runs longer than `timeoutMs`, or its thread ends. A thread that hangs or ends is replaced when the next task starts. A thread that still
   * loads the task after `timeoutMs` continues to load it for later tasks.
   */
  run<Name extends keyof Given & string>(
    name: Name,
    input: InputOf<Given[Name]>,
    options?: TaskOptions,
  ): Maybe<OutputOf<Given[Name]>>;
  readonly running: number;
  readonly waiting: number;
  readonly threads: number;
  readonly counts: ReadonlyMap<string, Readonly<TaskCounts>>;
  /** Ends the threads. Running and waiting tasks fail. */
  close(): Promise<void>;
}

interface Job {
  readonly name: string;
  readonly input: unknown;
  readonly timeoutMs: number;
  readonly owner: string;
  readonly resolve: (output: never) => void;
  readonly reject: (error: GatewayError) => void;
  /** Ends the wait for a thread. */
  waitTimer: NodeJS.Timeout | null;
  /** Offers the job to the thread for short inputs. */
  shortTimer: NodeJS.Timeout | null;
  /** True: a short input that has waited long enough for the thread for short inputs. */
  isDue: boolean;
}

/**
 * Options of Node for a thread. Piscina would load tasks with `require`, and Node aborts the whole process if a thread is ended while it does that
 * with a module: V8 is asked about a graph that is not instantiated. Without `require` for modules Piscina imports them.
 */
const execArgv = [...process.execArgv.filter((flag) => flag.startsWith('--import=')), '--no-experimental-require-module'];

/** The function that Piscina calls, with an order. */
const filename = fileURLToPath(taskFile('run-task'));

/** Milliseconds that a thread may load a task after its caller has given up. */
const loadMs = 30_000;

/** Length of an input that takes milliseconds in every task, in characters and bytes. */
const shortLengthMax = 64 * 1024;

/**
 * CPU work off the main thread. One thread more than `threads` starts if a short input has waited, so that the long texts of one workspace do
 * not delay the short ones of others for seconds. Threads start with the first task and end after 30 s without one, so a gateway that does not need them
 * does not pay for them.
 */
export function createWorkerPool<Given extends Tasks>(tasks: Given, options: WorkerPoolOptions): WorkerPool<Given> {
  const { threads, queueMax, taskMs, memoryMegabytes, shortWaitMs = 100, log } = options;
  const piscina = new Piscina({
    minThreads: 0,
    maxThreads: threads + 1,
    idleTimeout: 30_000,
    // Nothing reads the two histograms that Piscina would create and fill. Creating them takes half a millisecond.
    recordTiming: false,
    resourceLimits: { maxOldGenerationSizeMb: memoryMegabytes },
    execArgv,
  });
  // Piscina reports a thread that ends between two tasks by this event. Without a listener the process would end.
  piscina.on('error', (error: unknown) => log.warn({ reason: nameOf(error) }, 'a worker thread ended'));
  const counts = new Map<string, TaskCounts>(
    Object.keys(tasks).map((name) => [name, { inline: 0, completed: 0, failed: 0, refused: 0 }]),
  );
  // The queue is here, and Piscina gets no more tasks than it has threads. When a thread ends, Piscina starts another one for its
  // next task, but not for tasks in its own queue.
  const queue = createFairQueue<Job>();
  let running = 0;
  let isShortRunning = false;
  /** Number of running jobs by owner. */
  const runningOf = new Map<string, number>();

  return {
    run(name, input, { timeoutMs = taskMs, owner = '' } = {}) {
      const { inline } = tasks[name] as Tasks[string];
      if (inline && inline.sizeOf(input) <= inline.sizeMax) {
        countOf(name).inline++;
        return inline.run(input);
      }
      return new Promise((resolve, reject) => {
        const job: Job = { name, input, timeoutMs, owner, resolve, reject, waitTimer: null, shortTimer: null, isDue: false };
        if (running < threads) return void start(job);
        if (queue.length >= queueMax) {
          const last = queue.takeExcess(owner);
          if (last === null) return refuse(job, 'the worker queue is full');
          stopWaiting(last);
          refuse(last, 'the worker queue is full');
        }
        job.waitTimer = setTimeout(() => {
          queue.remove(job);
          stopWaiting(job);
          refuse(job, `no worker thread was free within ${timeoutMs} ms`);
        }, timeoutMs);
        queue.add(job);
        if (!isShort(job)) return;
        job.shortTimer = setTimeout(() => {
          job.isDue = true;
          startShort();
        }, shortWaitMs);
      });
    },
    get running() {
      return running + Number(isShortRunning);
    },
    get waiting() {
      return queue.length;
    },
    get threads() {
      return piscina.threads.length;
    },
    counts,
    async close() {
      for (let job = queue.next(); job; job = queue.next()) {
        stopWaiting(job);
        refuse(job, 'the worker pool is closed');
      }
      await piscina.destroy();
    },
  };

  async function start(job: Job, isOnShortThread = false): Promise<void> {
    if (isOnShortThread) isShortRunning = true;
    else running++;
    runningOf.set(job.owner, (runningOf.get(job.owner) ?? 0) + 1);
    const progress = new Int32Array(new SharedArrayBuffer(4));
    const file = (tasks[job.name] as Task<unknown, unknown>).file.href;
    const stop = new AbortController();
    let isLate = false;
    let timer = setTimeout(() => {
      isLate = true;
      fail(job, `took longer than ${job.timeoutMs} ms`);
      // On a busy machine, loading a task can take longer than running it may. Threads that were stopped meanwhile would all begin again.
      const before = Atomics.compareExchange(progress, 0, taskProgress.waiting, taskProgress.givenUp);
      if (before === taskProgress.waiting) timer = setTimeout(() => stop.abort(), loadMs);
      else stop.abort();
    }, job.timeoutMs);
    try {
      const order: Order = { file, input: job.input, progress };
      const output = (await piscina.run(order, { filename, signal: stop.signal })) as never;
      if (isLate) return;
      countOf(job.name).completed++;
      job.resolve(output);
    } catch (thrown) {
      if (!isLate) fail(job, reasonOf(thrown));
    } finally {
      clearTimeout(timer);
      if (isOnShortThread) isShortRunning = false;
      else running--;
      const others = (runningOf.get(job.owner) ?? 1) - 1;
      if (others === 0) runningOf.delete(job.owner);
      else runningOf.set(job.owner, others);
      queue.yieldTurn(job.owner);
      if (!isOnShortThread) startNext();
      // One of this owner may have become due meanwhile.
      startShort();
    }
  }

  function isShort({ name, input }: Job): boolean {
    return !tasks[name]?.isUnbounded && lengthLeft(input, shortLengthMax) >= 0;
  }

  /** Starts a short input of an owner that runs nothing on the thread for them. */
  function startShort(): void {
    if (isShortRunning) return;
    const job = queue.peek(({ owner, isDue }) => !isDue || runningOf.has(owner));
    if (!job) return;
    queue.take(job);
    stopWaiting(job);
    void start(job, true);
  }

  function stopWaiting({ waitTimer, shortTimer }: Job): void {
    clearTimeout(waitTimer ?? undefined);
    clearTimeout(shortTimer ?? undefined);
  }

  function startNext(): void {
    const job = queue.next();
    if (!job) return;
    stopWaiting(job);
    void start(job);
  }

  function fail(job: Job, detail: string): void {
    countOf(job.name).failed++;
    job.reject(new GatewayError('internal', { detail: `worker task ${job.name}: ${detail}` }));
  }

  function refuse(job: Job, detail: string): void {
    countOf(job.name).refused++;
    job.reject(new GatewayError('overloaded', { detail: `worker task ${job.name}: ${detail}` }));
  }

  function countOf(name: string): TaskCounts {
    return counts.get(name) as TaskCounts;
  }
}

/** Returns `left` minus the length of an input. Stops at a negative number. */
function lengthLeft(input: unknown, left: number): number {
  if (left < 0) return left;
  if (typeof input === 'string') return left - input.length;
  if (ArrayBuffer.isView(input)) return left - input.byteLength;
  if (typeof input !== 'object' || input === null) return left - 8;
  let rest = left;
  for (const value of Array.isArray(input) ? input : Object.values(input)) {
    rest = lengthLeft(value, rest - 8);
    if (rest < 0) break;
  }
  return rest;
}

/** Names the reason without the message of the error, which may repeat the input. */
function reasonOf(thrown: unknown): string {
  if (thrown instanceof Error && /^worker exited/.test(thrown.message)) return 'its thread ended';
  return `failed with ${nameOf(thrown)}`;
}

function nameOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown;
  const code = (thrown as { code?: unknown }).code;
  return typeof code === 'string' ? code : thrown.name;
}

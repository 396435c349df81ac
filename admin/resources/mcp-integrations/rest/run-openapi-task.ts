import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { TooManyRequests } from '../../../http/caller/rate-limit.ts';
import { invalid } from '../../../http/errors.ts';
import { documentField } from './document-field.ts';
import type { OpenApiInput, OpenApiOutput, OpenApiTaskName } from './openapi-tasks.ts';

export interface ToOpenApiThread {
  readonly name: OpenApiTaskName;
  /** JSON. A thread receives a text much faster than an object with many members. */
  readonly input: string;
}

export type FromOpenApiThread =
  | { readonly output: string }
  /** Message of an error in the document. */
  | { readonly invalid: string }
  | { readonly failure: string };

/** Maximum milliseconds of one task. The start of the thread does not count: on a busy machine it alone takes seconds. */
const taskMs = 4_000;
/** Maximum milliseconds of a request that runs tasks: it may wait for others. */
export const openApiDeadlineMs = 12_000;
/** Maximum number of tasks that run or wait. */
const tasksMax = 8;
/** The thread ends after this time without a task. */
const idleMs = 10_000;
/** A document of 1 MiB takes up to 120 MiB while YAML is parsed. */
const resourceLimits = { maxOldGenerationSizeMb: 256 };

interface Thread {
  readonly worker: Worker;
  /** Resolves when the thread has loaded its modules. Rejects if it cannot. */
  readonly ready: Promise<unknown>;
}

let thread: Thread | null = null;
let idle: NodeJS.Timeout | undefined;
let tasks = 0;
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a task of `openapi-tasks.ts` in a thread, one at a time, so that a document does not delay other requests. Throws AB01 for an
 * invalid document and for one that takes too long or too much memory, and AB06 if too many tasks wait.
 */
export async function runOpenApiTask<Name extends OpenApiTaskName>(
  name: Name,
  input: OpenApiInput<Name>,
  timeoutMs = taskMs,
): Promise<OpenApiOutput<Name>> {
  if (tasks >= tasksMax) throw new TooManyRequests(Math.ceil(taskMs / 1_000));
  tasks++;
  const running = last.then(() => run({ name, input: JSON.stringify(input) }, timeoutMs));
  last = running.catch(() => {});
  try {
    return JSON.parse(await running);
  } finally {
    tasks--;
  }
}

async function run(task: ToOpenApiThread, timeoutMs: number): Promise<string> {
  clearTimeout(idle);
  thread ??= start();
  const used = thread;
  used.worker.ref();
  const reply = await replyOf(used, task, timeoutMs);
  used.worker.unref();
  if (reply === null) {
    end();
    throw invalid(
      `${documentField}: reading it takes more than ${timeoutMs / 1_000} s or too much memory. Send a smaller document`,
    );
  }
  idle = setTimeout(end, idleMs).unref();
  if ('invalid' in reply) throw invalid(reply.invalid);
  if ('failure' in reply) throw new Error(`the thread of OpenAPI documents failed: ${reply.failure}`);
  return reply.output;
}

/** Returns the reply of the thread; null if there is none in time, or if the thread ends because it has no memory left. */
async function replyOf({ worker, ready }: Thread, task: ToOpenApiThread, timeoutMs: number): Promise<FromOpenApiThread | null> {
  try {
    await ready;
    worker.postMessage(task);
    const [reply] = await once(worker, 'message', { signal: AbortSignal.timeout(timeoutMs) });
    return reply as FromOpenApiThread;
  } catch (thrown) {
    const { name, code } = thrown as NodeJS.ErrnoException;
    if (name === 'AbortError' || code === 'ERR_WORKER_OUT_OF_MEMORY') return null;
    end();
    throw thrown;
  }
}

function start(): Thread {
  const entry = new URL(`./openapi-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
  const worker = new Worker(entry, { name: 'OpenAPI documents', resourceLimits });
  // `once` rejects with errors during a task. Without a listener an error between two tasks would end the process.
  worker.on('error', () => {});
  return { worker, ready: once(worker, 'message') };
}

function end(): void {
  void thread?.worker.terminate();
  thread = null;
}

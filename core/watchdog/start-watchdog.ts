import { Worker } from 'node:worker_threads';
import { aliveMessage } from '../contract/protocol/processes/process-messages.ts';
import { messageOf } from '../contract/values/errors/message-of.ts';
import type { Log } from '../contract/values/log/log.ts';
import type { StackThreadData } from './stack-thread.ts';

export interface WatchdogOptions {
  /** Milliseconds without a turn of the event loop after which the supervisor kills this process; 0 = never. */
  readonly timeoutMs: number;
  /** Sends to the supervisor. Absent if the process runs without one. */
  readonly send: ((message: object) => unknown) | undefined;
  /** Fields for the line with the stack, which a thread writes while this one hangs. */
  readonly lines: StackThreadData['lines'];
  readonly log: Log;
}

/** Heartbeats per timeout, so that a single late one does not kill the process. */
const beatsPerTimeout = 5;
/** Fewer than those of the supervisor, because reading a stack takes time. */
const beatsMissedMax = 3;

/**
 * Sends heartbeats to the supervisor for as long as the event loop of this process turns. A separate thread logs the stack of the
 * main thread before the supervisor kills a hanging process. The thread holds about 14 MiB. Resolves once the thread runs.
 */
export async function startWatchdog({ timeoutMs, send, lines, log }: WatchdogOptions): Promise<void> {
  if (timeoutMs === 0 || !send) return;
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const everyMs = timeoutMs / beatsPerTimeout;
  setInterval(() => {
    Atomics.add(beats, 0, 1);
    send(aliveMessage);
  }, everyMs).unref();
  send(aliveMessage);
  const data: StackThreadData = { beats, everyMs, beatsMissedMax, lines };
  const entry = new URL(`./stack-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
  // Threads accept no V8 flags, which this process has. The preload keeps Node's type stripper out of the thread too.
  const execArgv = process.execArgv.filter((flag) => flag.startsWith('--import='));
  const thread = new Worker(entry, { workerData: data, execArgv, env: {}, resourceLimits: threadLimits });
  thread.unref();
  thread.on('error', (error) => log.warn({ reason: messageOf(error) }, 'no stack will be logged if the event loop is blocked'));
  await new Promise<void>((resolve) => {
    thread.once('message', () => resolve());
    thread.once('exit', () => resolve());
  });
}

const threadLimits = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 };

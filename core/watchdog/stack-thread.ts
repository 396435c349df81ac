import { writeSync } from 'node:fs';
import { type Debugger, Session } from 'node:inspector';
import { parentPort, workerData } from 'node:worker_threads';

/** What the thread is started with. */
export interface StackThreadData {
  /** Counts the heartbeats of the main thread. */
  readonly beats: Int32Array;
  readonly everyMs: number;
  /** So many missing heartbeats in a row mean that the main thread hangs. */
  readonly beatsMissedMax: number;
  /** Fields of every log line of this process. */
  readonly lines: { readonly name: string; readonly slot: number; readonly pid: number };
}

/** The thread could not read a stack. */
export interface StackThreadMessage {
  readonly reason: string;
}

const { beats, everyMs, beatsMissedMax, lines } = workerData as StackThreadData;
const framesMax = 30;
let seen = 0;
let missed = 0;

// Not unref'd: without it the thread would end.
setInterval(() => {
  const now = Atomics.load(beats, 0);
  missed = now === seen ? missed + 1 : 0;
  seen = now;
  if (missed === beatsMissedMax) logStack();
}, everyMs);

/** Pauses the main thread for a moment and writes where it is. */
function logStack(): void {
  const session = new Session();
  try {
    session.connectToMainThread();
  } catch (error) {
    parentPort?.postMessage({ reason: String(error) } satisfies StackThreadMessage);
    return;
  }
  session.on('Debugger.paused', ({ params }) => {
    write(params.callFrames.slice(0, framesMax).map(textOf));
    session.post('Debugger.resume', () => session.disconnect());
  });
  session.post('Debugger.enable', () => session.post('Debugger.pause'));
}

function textOf({ functionName, url, location }: Debugger.CallFrame): string {
  return `${functionName || '(anonymous)'} (${url}:${location.lineNumber + 1}:${(location.columnNumber ?? 0) + 1})`;
}

/** Straight to standard output: the log of this process writes on the thread that hangs. */
function write(stack: string[]): void {
  const line = { level: 'error', time: new Date().toISOString(), ...lines, stack, msg: 'the event loop does not turn' };
  writeSync(1, `${JSON.stringify(line)}\n`);
}

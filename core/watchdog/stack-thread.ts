import { writeSync } from 'node:fs';
import { type Debugger, Session } from 'node:inspector';
import { parentPort, workerData } from 'node:worker_threads';

/** Input of the thread. */
export interface StackThreadData {
  /** Counts the heartbeats of the main thread. */
  readonly beats: Int32Array;
  readonly everyMs: number;
  /** Missing heartbeats in a row after which the main thread counts as hanging. */
  readonly beatsMissedMax: number;
  /** Fields of every log line of this process. */
  readonly lines: { readonly name: string; readonly slot: number; readonly pid: number };
}

const { beats, everyMs, beatsMissedMax, lines } = workerData as StackThreadData;
const framesMax = 30;
let seen = 0;
let missed = 0;

// The timer is not unref'd, because the thread would end without it.
setInterval(() => {
  const now = Atomics.load(beats, 0);
  missed = now === seen ? missed + 1 : 0;
  seen = now;
  if (missed === beatsMissedMax) logStack();
}, everyMs);
parentPort?.postMessage('watching');

/** Pauses the main thread briefly and logs its stack. */
function logStack(): void {
  const session = new Session();
  session.connectToMainThread();
  // Frames name scripts by id; each script is reported when the debugger is enabled.
  const urls = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params }) => void urls.set(params.scriptId, params.url));
  session.on('Debugger.paused', ({ params }) => {
    write(params.callFrames.slice(0, framesMax).map((frame) => textOf(frame, urls)));
    session.post('Debugger.resume', () => session.disconnect());
  });
  session.post('Debugger.enable', () => session.post('Debugger.pause'));
}

function textOf({ functionName, url, location }: Debugger.CallFrame, urls: ReadonlyMap<string, string>): string {
  const file = url || urls.get(location.scriptId) || '(unknown script)';
  return `${functionName || '(anonymous)'} (${file}:${location.lineNumber + 1}:${(location.columnNumber ?? 0) + 1})`;
}

/** Written directly to standard output, because the log of this process writes on the thread that hangs. */
function write(stack: string[]): void {
  const line = {
    level: 'error',
    time: new Date().toISOString(),
    ...lines,
    stack: stack.join('\n'),
    msg: 'the event loop is blocked',
  };
  writeSync(1, `${JSON.stringify(line)}\n`);
}

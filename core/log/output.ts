import { write as writeLater, writeSync } from 'node:fs';

/** A file descriptor for log lines. */
export interface Output {
  /** Writes in the order of the calls, without waiting. */
  write(text: string): void;
  /** Writes what is waiting before it returns, unless the descriptor accepts nothing. */
  flush(): void;
}

/** Bytes that wait for a full disk or a slow reader. Further lines are dropped. */
const waitingMax = 4 * 1024 * 1024;
const retryMs = 100;
const flushRetriesMax = 10;
/** File descriptor. */
const standardOutput = 1;

/**
 * Opens standard output for lines. Not pino's own destination: it ends the process if the disk of the log
 * is full, and its `flushSync` (sonic-boom 4) then never returns. The service continues without a log: if the reader is gone (EPIPE),
 * lines are discarded, and other errors are tried again.
 */
export function createOutput(): Output {
  let waiting = '';
  let writing: Buffer | null = null;
  /** False between two attempts of a write that failed. */
  let isUnderWay = false;
  let isClosed = false;
  let dropped = 0;

  function next(): void {
    if (writing !== null || waiting === '' || isClosed) return;
    const bytes = Buffer.from(waiting);
    waiting = '';
    step(bytes);
  }

  function step(bytes: Buffer): void {
    writing = bytes;
    isUnderWay = true;
    writeLater(standardOutput, bytes, 0, bytes.length, null, (error, written) => {
      isUnderWay = false;
      if (error) {
        if (isGone(error)) close();
        else setTimeout(() => writing === bytes && step(bytes), retryMs).unref();
        return;
      }
      if (written < bytes.length) return step(bytes.subarray(written));
      writing = null;
      if (dropped > 0)
        waiting += `{"level":"warn","dropped":${dropped},"msg":"log lines dropped: the output accepted no more"}\n`;
      dropped = 0;
      next();
    });
  }

  function close(): void {
    isClosed = true;
    waiting = '';
    writing = null;
  }

  return {
    write(text) {
      if (isClosed) return;
      if (waiting.length + text.length > waitingMax) {
        dropped += 1;
        return;
      }
      waiting += text;
      next();
    },
    flush() {
      const started = writing !== null && !isUnderWay ? writing : Buffer.alloc(0);
      let bytes = Buffer.concat([started, Buffer.from(waiting)]);
      waiting = '';
      if (!isUnderWay) writing = null;
      for (let retries = 0; bytes.length > 0 && !isClosed; ) {
        try {
          bytes = bytes.subarray(writeSync(standardOutput, bytes));
          retries = 0;
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || ++retries > flushRetriesMax) return;
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs);
        }
      }
    },
  };
}

function isGone({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || code === 'EBADF' || code === 'EIO';
}

import { statfs } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { EmbeddedOptions, FromThread, Result, ToThread } from './embedded-thread.ts';

/** The parts of PGlite that the ORM uses. */
export interface EmbeddedDatabase extends Sender {
  /** Runs `work` in a transaction. Other statements wait for its end. */
  transaction<T>(work: (transaction: Sender) => Promise<T>): Promise<T>;
  readonly ready: boolean;
  readonly waitReady: Promise<void>;
  readonly closed: boolean;
  close(): Promise<void>;
}

interface Sender {
  query(sql: string, values?: readonly unknown[]): Promise<Result>;
}

interface Crashes {
  /** Called once if the thread ends, or if the database can run no further statement. All statements reject from then on. */
  onCrash(error: Error): void;
  /** Time after which a statement counts as slow. Then the free space of the disk is read. */
  readonly slowMs?: number;
  /** Free bytes of the disk. */
  readonly freeBytes?: () => Promise<number>;
}

/**
 * Opens the embedded database in a thread of its own, so that a statement does not delay other work of this process. Rejects if it cannot
 * be opened.
 */
export async function openEmbeddedDatabase(options: EmbeddedOptions, crashes: Crashes): Promise<EmbeddedDatabase> {
  const { onCrash, slowMs = 5_000, freeBytes = () => freeBytesOf(options.dataDir) } = crashes;
  const entry = new URL(`./embedded-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
  const thread = new Worker(entry, { workerData: options, name: 'embedded database' });
  const waiting = new Map<number, { resolve(result: Result): void; reject(error: Error): void }>();
  const exited = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
  let lastId = 0;
  let closed = false;
  let crash: Error | null = null;
  /** The statement that ran at the last look. */
  let seenId: number | undefined;
  /** The end of the last statement or transaction that has been requested. */
  let last: Promise<unknown> = Promise.resolve();

  await new Promise<void>((resolve, reject) => {
    thread.once('message', () => {
      thread.off('error', reject);
      resolve();
    });
    thread.once('error', reject);
    thread.once('exit', (code) => reject(new Error(`the thread of the embedded database has ended with code ${code}`)));
  });
  thread.on('error', endWith);
  thread.once('exit', (code) => endWith(new Error(`the thread of the embedded database has ended with code ${code}`)));
  // PGlite 0.5 never returns from a statement that finds no space for a new file of the write-ahead log.
  const timer = setInterval(() => void endIfFull(), slowMs).unref();
  // Messages that follow one another quickly arrive in one turn of the event loop. Between two statements other work has its turn.
  thread.on('message', (message: Exclude<FromThread, 'ready'>) => setImmediate(settle, message));

  return {
    query: (sql, values = []) => inTurn(() => send(sql, values)),
    transaction: (work) =>
      inTurn(async () => {
        await send('begin', []);
        try {
          const result = await work({ query: (sql, values = []) => send(sql, values) });
          await send('commit', []);
          return result;
        } catch (error) {
          await send('rollback', []);
          throw error;
        }
      }),
    ready: true,
    waitReady: Promise.resolve(),
    get closed() {
      return closed;
    },
    async close() {
      await inTurn(async () => {
        if (closed) return;
        closed = true;
        clearInterval(timer);
        thread.postMessage('close' satisfies ToThread);
      });
      await exited;
    },
  };

  function endWith(error: Error): void {
    if (closed || crash) return;
    crash = error;
    clearInterval(timer);
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
    void thread.terminate();
    onCrash(error);
  }

  async function endIfFull(): Promise<void> {
    const [runningId] = waiting.keys();
    const isSlow = runningId !== undefined && runningId === seenId;
    seenId = runningId;
    if (!isSlow) return;
    // If the free space cannot be read, the disk counts as empty: the statement may end.
    const free = await freeBytes().catch(() => Number.POSITIVE_INFINITY);
    if (free < logFileBytes && waiting.has(runningId)) endWith(new Error(diskFullMessage(free)));
  }

  function settle(message: Exclude<FromThread, 'ready'>): void {
    const caller = waiting.get(message.id);
    waiting.delete(message.id);
    if ('result' in message) caller?.resolve(message.result);
    else caller?.reject(Object.assign(new Error(message.message), message.fields));
  }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work);
    last = result.catch(() => {});
    return result;
  }

  function send(sql: string, values: readonly unknown[]): Promise<Result> {
    if (closed || crash) return Promise.reject(crash ?? new Error('PGlite is closed'));
    return new Promise((resolve, reject) => {
      const id = ++lastId;
      waiting.set(id, { resolve, reject });
      thread.postMessage({ id, sql, values } satisfies ToThread);
    });
  }
}

/** Size of one file of the write-ahead log. */
const logFileBytes = 16 * 1024 * 1024;

/** Returns the reason for which the database cannot be used, or `null` if its disk has enough space. */
export async function fullDiskOf(dataDir: string): Promise<string | null> {
  const free = await freeBytesOf(dataDir);
  return free < logFileBytes ? diskFullMessage(free) : null;
}

async function freeBytesOf(dataDir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dataDir);
  return bavail * bsize;
}

function diskFullMessage(free: number): string {
  const mebibytes = (free / 1024 / 1024).toFixed(1);
  return `DATA_DIR: its disk has ${mebibytes} MiB left, and the embedded database needs 16 MiB for its next log file. Free space on it.`;
}

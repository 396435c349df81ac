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

/**
 * Opens the embedded database in a thread of its own, so that a statement does not delay other work of this process. Rejects if it cannot
 * be opened. If the thread crashes later, the error is uncaught and ends the process: statements would fail until a restart.
 */
export async function openEmbeddedDatabase(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const entry = new URL(`./embedded-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
  const thread = new Worker(entry, { workerData: options, name: 'embedded database' });
  const waiting = new Map<number, { resolve(result: Result): void; reject(error: Error): void }>();
  const exited = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
  let lastId = 0;
  let closed = false;
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
  thread.once('exit', (code) => {
    if (!closed) throw new Error(`the thread of the embedded database has ended with code ${code}`);
  });
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
        thread.postMessage('close' satisfies ToThread);
      });
      await exited;
    },
  };

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
    if (closed) return Promise.reject(new Error('PGlite is closed'));
    return new Promise((resolve, reject) => {
      const id = ++lastId;
      waiting.set(id, { resolve, reject });
      thread.postMessage({ id, sql, values } satisfies ToThread);
    });
  }
}

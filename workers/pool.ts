import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { GatewayError } from '../core/contract/values/errors.ts';
import type { CountTokensInput } from './tasks/count-tokens.ts';

export interface WorkerPool {
  /**
   * Tokens of these texts. Rejects with GatewayError `overloaded` when the queue is full, and `internal` when the task fails or
   * takes longer than `timeoutMs`.
   */
  countTokens(texts: readonly string[], timeoutMs: number): Promise<number>;
  /** Ends the threads; running tasks are cut off. */
  close(): Promise<void>;
}

/** Texts beyond this are cut: no count is worth a thread for seconds. */
const textCharsMax = 1024 * 1024;
const queueMax = 1000;

/**
 * CPU work off the main thread. Threads start with the first task and end after 30 s without one, so a gateway that never
 * needs them pays nothing. A full queue is an answer, not a wait without end.
 */
export function createWorkerPool(threads = 1): WorkerPool {
  const piscina = new Piscina({
    filename: taskFile('count-tokens'),
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: 30_000,
  });
  // Counted here: Piscina's own limit does not hold while no thread has come up yet.
  let waiting = 0;
  return {
    async countTokens(texts, timeoutMs) {
      if (waiting >= queueMax) throw new GatewayError('overloaded', { detail: 'the worker queue is full' });
      waiting++;
      try {
        const input: CountTokensInput = { texts: cut(texts) };
        return (await piscina.run(input, { signal: AbortSignal.timeout(timeoutMs) })) as number;
      } catch (thrown) {
        throw new GatewayError('internal', { cause: thrown, detail: 'a worker task failed' });
      } finally {
        waiting--;
      }
    },
    close: () => piscina.destroy(),
  };
}

function cut(texts: readonly string[]): string[] {
  const kept: string[] = [];
  let room = textCharsMax;
  for (const text of texts) {
    if (room <= 0) break;
    kept.push(text.slice(0, room));
    room -= text.length;
  }
  return kept;
}

/** The task beside this file: TypeScript in the sources, JavaScript in a build. */
function taskFile(name: string): string {
  const source = fileURLToPath(new URL(`./tasks/${name}.ts`, import.meta.url));
  return existsSync(source) ? source : fileURLToPath(new URL(`./tasks/${name}.js`, import.meta.url));
}

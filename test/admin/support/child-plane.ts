import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { inlineAllowed } from '../../support/product/inline-allowed.ts';
import { productFile } from '../../support/product/product.ts';
import { cheapStartEnv } from '../../support/product/source-process.ts';

/** A control plane in its own process, as the supervisor starts it. */
export interface ChildPlane {
  readonly process: ChildProcess;
  /** Messages that it has sent to its parent. */
  readonly messages: Record<string, unknown>[];
  /** Text of standard output and error so far. */
  readonly output: string[];
  /** Resolves with the port. Rejects if the process ends before it is ready. */
  readonly ready: Promise<number>;
  /** Exit code, or the signal's name. */
  readonly ended: Promise<number | string>;
}

export async function forkPlane(env: Readonly<Record<string, string>>): Promise<ChildPlane> {
  const child = fork(await productFile('admin/main'), {
    env: { PATH: process.env.PATH ?? '', ...cheapStartEnv, ...inlineAllowed, ...env },
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const messages: Record<string, unknown>[] = [];
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => void output.push(String(chunk)));
  const ended = once(child, 'exit').then(([code, signal]) => (signal ?? code) as number | string);
  const ready = new Promise<number>((resolve, reject) => {
    child.on('message', (message: Record<string, unknown>) => {
      messages.push(message);
      if (message.type === 'ready') resolve(message.port as number);
    });
    void ended.then((how) => reject(new Error(`ended (${how}) before it was ready: ${output.join('')}`)));
  });
  ready.catch(() => {});
  return { process: child, messages, output, ready, ended };
}

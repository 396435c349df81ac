import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cheapStartEnv, sourceArguments } from '../../support/product/source-process.ts';
import { within } from '../../support/until.ts';

/** A supervisor in a separate process, whose output is read line by line. */
export class SupervisorRun {
  readonly process: ChildProcess;
  readonly lines: string[] = [];
  readonly exited: Promise<number | null>;
  readonly #waiting = new Set<() => void>();

  constructor(env: Readonly<Record<string, string>> = {}) {
    this.process = spawn(process.execPath, sourceArguments('test/core/supervisor/fixtures/run.mjs'), {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
        CLUSTER_KEY: Buffer.alloc(32, 2).toString('base64'),
        DATA_DIR: mkdtempSync(join(tmpdir(), 'supervisor-')),
        GATEWAY_PROCESSES: '2',
        ...cheapStartEnv,
        ...env,
      },
    });
    for (const stream of [this.process.stdout, this.process.stderr]) {
      let rest = '';
      stream?.setEncoding('utf8').on('data', (text: string) => {
        const parts = (rest + text).split('\n');
        rest = parts.pop() as string;
        this.lines.push(...parts);
        for (const check of this.#waiting) check();
      });
    }
    this.exited = once(this.process, 'close').then(([code]) => code as number | null);
  }

  /** Resolves with the `nth` line (default 1) that matches. */
  line(pattern: RegExp, nth = 1): Promise<string> {
    const found = (): string | undefined => this.lines.filter((line) => pattern.test(line))[nth - 1];
    const arrived = new Promise<string>((resolve) => {
      const check = (): void => {
        const line = found();
        if (line === undefined) return;
        this.#waiting.delete(check);
        resolve(line);
      };
      this.#waiting.add(check);
      check();
    });
    return within(arrived, `line ${nth} like ${pattern}`, 20_000).catch((error) => {
      throw new Error(`${error.message}\n--- it said ---\n${this.lines.join('\n')}`);
    });
  }

  /** Process id of the nth start of this child. */
  async pidOf(place: string, life = 1): Promise<number> {
    return Number((await this.line(new RegExp(`^${place} started `), life)).split(' ')[2]);
  }

  count(pattern: RegExp): number {
    return this.lines.filter((line) => pattern.test(line)).length;
  }

  signal(signal: NodeJS.Signals): void {
    this.process.kill(signal);
  }
}

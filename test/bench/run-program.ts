import { spawn } from 'node:child_process';
import { cheapStartEnv, sourceArguments } from '../support/product/source-process.ts';

export interface ProgramResult {
  readonly code: number | null;
  /** Both streams together. */
  readonly output: string;
}

/** Runs one of the programs under `bench/` to its end. */
export function runProgram(name: string, args: readonly string[]): Promise<ProgramResult> {
  const env = { ...process.env, ...cheapStartEnv };
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, sourceArguments(`bench/${name}`, ...args), { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { freePort } from './free-port.ts';

const binary = process.env.NATS_SERVER ?? 'nats-server';

/** Reason why no real NATS server can run here. Null if one can. */
export const natsMissing = spawnSync(binary, ['--version']).status === 0 ? null : `no ${binary} on this machine`;

/** A real nats-server on one port. Tests can kill it and start it again. */
export interface NatsServer {
  readonly url: string;
  /** Resolves when it accepts connections. */
  start(): Promise<void>;
  /** SIGKILL. Resolves when the process has ended. */
  kill(): Promise<void>;
}

export async function newNatsServer(extraArguments: readonly string[] = []): Promise<NatsServer> {
  const port = await freePort();
  let child: ChildProcess | null = null;
  return {
    url: `nats://127.0.0.1:${port}`,
    async start() {
      child = spawn(binary, ['-a', '127.0.0.1', '-p', String(port), ...extraArguments], { stdio: ['ignore', 'ignore', 'pipe'] });
      const lines = createInterface({ input: child.stderr! });
      for await (const line of lines) if (line.includes('Server is ready')) return void child.stderr!.resume();
      throw new Error('nats-server ended before it was ready');
    },
    async kill() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

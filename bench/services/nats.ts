import type { ChildProcess } from 'node:child_process';
import { connect } from 'node:net';
import { freePort } from '../../test/support/processes/free-port.ts';
import { until } from '../../test/support/until.ts';
import { end, findProgram, start } from '../processes.ts';
import type { Service } from './service.ts';

/** Starts a NATS server. Null if none is installed. `NATS_SERVER` may name the program. */
export async function startNats(): Promise<Service | null> {
  const program = process.env.NATS_SERVER ?? findProgram('nats-server');
  if (!program) return null;
  const port = await freePort();
  let child: ChildProcess | null = null;
  const service: Service = {
    url: `nats://127.0.0.1:${port}`,
    async up() {
      child = start([], program, ['-a', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
      await until(() => accepts(port), { what: 'NATS' });
    },
    async down() {
      child?.kill('SIGKILL');
      if (child) await end(child);
      child = null;
    },
    close: () => service.down(),
  };
  await service.up();
  return service;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

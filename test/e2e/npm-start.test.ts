import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { freePorts } from '../support/processes/free-port.ts';
import { plainPath } from '../support/processes/plain-path.ts';
import { childrenOf, isAlive } from '../support/processes/process-tree.ts';
import { newProductDatabase, type ProductDatabase } from '../support/product/product-database.ts';
import { cheapStartEnv } from '../support/product/source-process.ts';
import { until } from '../support/until.ts';

const root = join(import.meta.dirname, '../..');
let folder: string;
let npm: ChildProcess;
let printed: string;
let database: ProductDatabase;

/** `npm start` as a user types it: the machine's own Node first on the PATH, a process group of its own as in a terminal. */
async function npmStart(): Promise<number[]> {
  folder = mkdtempSync(join(tmpdir(), 'npm-start-'));
  mkdirSync(join(folder, 'data'));
  database = await newProductDatabase(join(folder, 'data'));
  const [port, controlPlanePort] = (await freePorts(2)) as [number, number];
  npm = spawn('npm', ['start'], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: plainPath(),
      HOME: process.env.HOME ?? folder,
      ...cheapStartEnv,
      ...database.env,
      PORT: String(port),
      CONTROL_PLANE_PORT: String(controlPlanePort),
      DATA_DIR: join(folder, 'data'),
      GATEWAY_PROCESSES: '2',
      LOG_LEVEL: 'warn',
    },
  });
  printed = '';
  for (const stream of [npm.stdout, npm.stderr]) stream?.on('data', (text) => (printed += text));
  await until(() => printed.includes('A first call') || npm.exitCode !== null, {
    deadlineMs: 60_000,
    what: 'a ready gateway',
  }).catch((error) => {
    throw new Error(`${error.message}\n${printed}`);
  });
  return descendantsOf(npm.pid as number);
}

function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

afterEach(async () => {
  if (npm.exitCode === null && npm.signalCode === null) {
    process.kill(-(npm.pid as number), 'SIGKILL');
    await once(npm, 'exit');
  }
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

describe('npm start', () => {
  it('runs on its own Node, and ends all its processes when npm is stopped', async () => {
    const pids = await npmStart();
    // The supervisor, one control plane, two gateways.
    expect(pids).toHaveLength(4);
    npm.kill('SIGTERM');
    await until(() => pids.every((pid) => !isAlive(pid)), {
      deadlineMs: 40_000,
      what: `the end of all processes; printed\n${printed}`,
    });
    expect(printed).not.toContain('process did not stop cleanly');
  });
});

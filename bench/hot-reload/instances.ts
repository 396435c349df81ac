import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../test/support/processes/free-port.ts';
import { childrenOf } from '../../test/support/processes/process-tree.ts';
import { type RunningGateway, startGateway } from '../../test/support/product/start-gateway.ts';
import { until } from '../../test/support/until.ts';
import { end, start } from '../processes.ts';

/** One gateway: a supervisor with one gateway process, as on a machine of its own. */
export interface Instance {
  readonly name: string;
  readonly origin: string;
  /** The current gateway process, or null between two. */
  gatewayPid(): number | null;
  close(): Promise<void>;
}

export interface Cluster {
  /** The one that also runs the control plane. */
  readonly first: RunningGateway;
  readonly instances: readonly Instance[];
  close(): Promise<void>;
}

/** Starts `count` gateways over one control plane. All share `env` (`NATS_URL`, `DATABASE_URL`). Resolves when all reply. */
export async function startCluster(count: number, env: Readonly<Record<string, string>>): Promise<Cluster> {
  const shared = { LOG_LEVEL: 'fatal', ...env, ENCRYPTION_KEY: newKey(), CLUSTER_KEY: newKey() };
  const first = await startGateway({ env: shared });
  const instances: Instance[] = [
    { name: 'gateway 1', origin: first.origin, gatewayPid: () => first.pidsOf('gateway')[0] ?? null, close: async () => {} },
  ];
  const cluster = {
    first,
    instances,
    async close() {
      await Promise.all(instances.map((instance) => instance.close()));
      await first.kill();
    },
  };
  try {
    while (instances.length < count) {
      instances.push(await startInstance(`gateway ${instances.length + 1}`, first.controlPlaneUrl, shared));
    }
  } catch (error) {
    await cluster.close();
    throw error;
  }
  return cluster;
}

async function startInstance(name: string, controlPlaneUrl: string, env: Readonly<Record<string, string>>): Promise<Instance> {
  const [port, dataDir] = [await freePort(), await mkdtemp(join(tmpdir(), 'svc-instance-'))];
  const child = start([], process.execPath, [new URL('../../core/supervisor/main.ts', import.meta.url).pathname], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ROLE: 'gateway',
      HOST: '127.0.0.1',
      PORT: String(port),
      CONTROL_PLANE_URL: controlPlaneUrl,
      DATA_DIR: dataDir,
      GATEWAY_PROCESSES: '1',
      TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
      ...env,
    },
  });
  const origin = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${origin}/v1/health`)).status === 200, { what: name, deadlineMs: 30_000 });
  return {
    name,
    origin,
    gatewayPid: () => childrenOf(child.pid as number)[0] ?? null,
    async close() {
      await end(child);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function newKey(): string {
  return randomBytes(32).toString('base64');
}

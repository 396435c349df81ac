import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AdminClient, adminClient } from '../clients/admin-client.ts';
import { freePorts } from '../processes/free-port.ts';
import { childrenOf, isAlive } from '../processes/process-tree.ts';
import { until, within } from '../until.ts';
import { inlineAllowed } from './inline-allowed.ts';
import { productFile } from './product.ts';
import { newProductDatabase } from './product-database.ts';
import { cheapStartEnv } from './source-process.ts';

export interface GatewayOptions {
  /** Folder of the source code that runs; default: a bundle of the tree of this file. */
  readonly sourceDir?: string;
  /** Additional settings, as environment. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Database of a product that starts on a temporary data directory, unless `env` names one. Default: see `newProductDatabase`.
   */
  readonly database?: 'embedded' | 'server';
  /** Data directory to start on instead of an empty temporary directory, with its database. `stop()` does not remove it. */
  readonly dataDir?: string;
  /** Parent of the temporary data directory; default: the system's temporary directory. */
  readonly parentDir?: string;
  readonly port?: number;
  readonly controlPlanePort?: number;
  /** Command before node, such as `['taskset', '-c', '0']`. */
  readonly prefix?: readonly string[];
  /** File for the output. The product can then outlive this process. */
  readonly outputFile?: string;
  /** Default 100,000: a start takes a few seconds, and much longer on a machine that starts many. */
  readonly deadlineMs?: number;
}

export type ChildRole = 'gateway' | 'control-plane';

export interface RunningGateway {
  /** `http://127.0.0.1:<port>`, without `/v1`. */
  readonly origin: string;
  /** `<origin>/v1`, for clients. */
  readonly baseUrl: string;
  /** URL of the control plane, without `/v1`. */
  readonly controlPlaneUrl: string;
  readonly port: number;
  readonly controlPlanePort: number;
  readonly adminKey: string;
  readonly workspaceKey: string;
  readonly workspaceId: string;
  readonly dataDir: string;
  /** The supervisor's process id. */
  readonly pid: number;
  /** Calls the control plane directly with the admin key. */
  readonly admin: AdminClient;
  /** Ids of the running children with this role. */
  pidsOf(role: ChildRole): number[];
  /** Returns the output of the product so far, both streams together. */
  output(): string;
  /** Sends SIGTERM, waits until everything has ended, and returns the exit code. Safe to call twice. */
  stop(): Promise<number | null>;
  /** Sends SIGKILL to the supervisor and every child at once. */
  kill(): Promise<void>;
}

/**
 * Starts the whole product as one child process tree on free ports and an empty data directory, and resolves when it replies.
 * Upstreams on 127.0.0.1 are trusted. Throws with its output if it ends or does not become ready.
 */
export async function startGateway(options: GatewayOptions = {}): Promise<RunningGateway> {
  const { sourceDir } = options;
  const program = sourceDir ? join(sourceDir, 'core/supervisor/main.ts') : await productFile('core/supervisor/main');
  const dataDir = options.dataDir ?? (await mkdtemp(join(options.parentDir ?? tmpdir(), 'svc-gateway-')));
  // A first start creates its database, which takes seconds. Tests of first starts name a folder.
  const startsAnew = options.dataDir === undefined && options.sourceDir === undefined;
  const needsDatabase = startsAnew && !options.env?.DATABASE_URL && !options.env?.ROLE;
  const database = needsDatabase ? await newProductDatabase(dataDir, options.database) : null;
  const free = await freePorts(2);
  const port = options.port ?? (free[0] as number);
  const controlPlanePort = options.controlPlanePort ?? (free[1] as number);
  const origin = `http://127.0.0.1:${port}`;
  const controlPlaneUrl = `http://127.0.0.1:${controlPlanePort}`;
  const [command, ...args] = [...(options.prefix ?? []), process.execPath, program];
  const outputFd = options.outputFile ? openSync(options.outputFile, 'a') : null;
  const child = spawn(command as string, args, {
    cwd: sourceDir ?? fileURLToPath(new URL('../../..', import.meta.url)),
    stdio: ['ignore', outputFd ?? 'pipe', outputFd ?? 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      HOST: '127.0.0.1',
      PORT: String(port),
      CONTROL_PLANE_PORT: String(controlPlanePort),
      DATA_DIR: dataDir,
      ...cheapStartEnv,
      ...database?.env,
      GATEWAY_PROCESSES: '1',
      LOG_LEVEL: 'warn',
      TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
      ...inlineAllowed,
      ...options.env,
    },
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: Buffer) => (printed += text));
  if (outputFd !== null) {
    closeSync(outputFd);
    child.unref();
  }
  const output = () => printed + (options.outputFile ? readFileSync(options.outputFile, 'utf8') : '');
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.once('error', (error) => (printed += `${error}\n`));

  async function removeData(): Promise<void> {
    if (!options.dataDir) await rm(dataDir, { recursive: true, force: true });
    await database?.drop();
  }

  try {
    const keys = await until(() => firstKeysWhenReady(child, origin, controlPlaneUrl, dataDir), {
      deadlineMs: options.deadlineMs ?? 100_000,
      what: 'a ready gateway',
    });
    if (keys === 'ended') throw new Error(`the product ended with ${child.exitCode ?? child.signalCode}`);
    return {
      origin,
      baseUrl: `${origin}/v1`,
      controlPlaneUrl,
      port,
      controlPlanePort,
      adminKey: keys.admin_key,
      workspaceKey: keys.workspace_key,
      workspaceId: keys.workspace_id,
      dataDir,
      pid: child.pid as number,
      admin: adminClient(controlPlaneUrl, keys.admin_key, keys.workspace_id),
      pidsOf: (role) => pidsWithRole(child.pid as number, role),
      output,
      async stop() {
        child.kill('SIGTERM');
        const code = await within(exited, `the end of the product after SIGTERM\n${output()}`, 60_000).catch(async (error) => {
          await killTree(child);
          throw error;
        });
        await removeData();
        return code;
      },
      async kill() {
        await killTree(child);
        await removeData();
      },
    };
  } catch (error) {
    await killTree(child);
    await removeData();
    throw new Error(`${error instanceof Error ? error.message : error}\n--- printed by the product ---\n${output()}`, {
      cause: error,
    });
  }
}

interface FirstKeys {
  readonly admin_key: string;
  readonly workspace_key: string;
  readonly workspace_id: string;
}

/** Returns the first keys if control plane and gateway reply, null if they are not ready, `ended` if the process has exited. */
async function firstKeysWhenReady(
  child: ChildProcess,
  origin: string,
  controlPlaneUrl: string,
  dataDir: string,
): Promise<FirstKeys | 'ended' | null> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return 'ended';
  const health = await fetch(`${origin}/v1/health`);
  await health.arrayBuffer();
  if (health.status !== 200) return null;
  const keys = JSON.parse(readFileSync(join(dataDir, 'first-keys.json'), 'utf8')) as FirstKeys;
  const self = await fetch(`${controlPlaneUrl}/v1/configs?workspace_id=${keys.workspace_id}`, {
    headers: { 'x-svc-api-key': keys.admin_key },
  });
  await self.arrayBuffer();
  return self.status === 200 ? keys : null;
}

/** Kills the tree and waits until all its processes have ended, so that ports and files are free again. */
async function killTree(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) return;
  const pids = [child.pid, ...childrenOf(child.pid)];
  const exited = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null;
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended by itself.
    }
  }
  await exited;
  await until(() => pids.slice(1).every((pid) => !isAlive(pid)), { what: 'the end of the killed children' });
}

/** Returns the ids of the supervisor's running children with this role. */
export function pidsWithRole(supervisorPid: number, role: ChildRole): number[] {
  return childrenOf(supervisorPid).filter((pid) => roleOf(pid) === role);
}

function roleOf(pid: number): ChildRole | null {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    if (command.includes('admin/main.')) return 'control-plane';
    return command.includes('core/main.') ? 'gateway' : null;
  } catch {
    return null;
  }
}

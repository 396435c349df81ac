import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newReadyDatabase, postgresMissing, type TestDatabase } from '../admin/support/test-database.ts';
import { freePorts } from '../support/processes/free-port.ts';
import { productFile } from '../support/product/product.ts';
import { cheapStartEnv } from '../support/product/source-process.ts';
import { until } from '../support/until.ts';

type Env = Readonly<Record<string, string>>;

/** A machine with one supervisor, which keeps its data and its port when it is restarted. */
class Machine {
  readonly #env: Env;
  readonly url: string;
  #child: ChildProcess | null = null;
  output = '';

  constructor(port: number, env: Env) {
    this.url = `http://127.0.0.1:${port}`;
    this.#env = env;
  }

  async restart(keys: Env, isReady: (status: number) => boolean = (status) => status === 200): Promise<void> {
    await this.stop();
    const env = { PATH: process.env.PATH, ...cheapStartEnv, ...this.#env, ...keys };
    const child = spawn(process.execPath, [await productFile('core/supervisor/main')], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (this.output += text));
    this.#child = child;
    await until(async () => isReady((await fetch(`${this.url}/ready`).catch(() => null))?.status ?? 0), {
      what: `the start of ${this.url}`,
      deadlineMs: 90_000,
    });
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  }
}

describe.skipIf(postgresMissing !== null)('a new ENCRYPTION_KEY on two control planes and a gateway', () => {
  const key = () => randomBytes(32).toString('base64');
  const [earlier, later] = [key(), key()];
  const before = { ENCRYPTION_KEY: earlier };
  const both = { ENCRYPTION_KEY: later, ENCRYPTION_KEY_PREVIOUS: earlier };
  const after = { ENCRYPTION_KEY: later };
  let database: TestDatabase;
  let folder: string;
  let provider: Server;
  const credentials: (string | undefined)[] = [];
  let first: Machine;
  let second: Machine;
  let gateway: Machine;
  let shared: Env;
  let adminKey: string;

  beforeAll(async () => {
    database = await newReadyDatabase();
    folder = await mkdtemp(join(tmpdir(), 'svc-new-key-'));
    provider = createServer((request, response) => {
      credentials.push(request.headers.authorization);
      request.resume().on('end', () => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [] }));
      });
    }).listen(0, '127.0.0.1');
    await once(provider, 'listening');
    const [onePort, otherPort, gatewayPort] = (await freePorts(3)) as [number, number, number];
    shared = { CLUSTER_KEY: key(), HOST: '127.0.0.1', TRUSTED_CUSTOM_HOSTS: '127.0.0.1', GATEWAY_PROCESSES: '1' };
    const plane = (name: string, port: number) =>
      new Machine(port, {
        ...shared,
        ...{ ROLE: 'control-plane', DATABASE_URL: database.url, CONTROL_PLANE_PORT: String(port), DATA_DIR: join(folder, name) },
      });
    first = plane('first', onePort);
    second = plane('second', otherPort);
    gateway = new Machine(gatewayPort, {
      ...shared,
      ...{ ROLE: 'gateway', PORT: String(gatewayPort), CONTROL_PLANE_URL: first.url, DATA_DIR: join(folder, 'gateway') },
    });
  });
  afterAll(async () => {
    await Promise.all([gateway?.stop(), first?.stop(), second?.stop()]);
    provider?.close();
    await rm(folder, { recursive: true, force: true });
    await database?.drop();
  });

  async function admin(machine: Machine, path: string, body: object): Promise<{ key: string }> {
    const reply = await fetch(`${machine.url}/v1${path}`, {
      method: 'POST',
      headers: { 'x-svc-api-key': adminKey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await reply.text();
    expect([reply.status, text]).toEqual([200, expect.any(String)]);
    return JSON.parse(text) as { key: string };
  }

  const newKey = async (machine: Machine) =>
    (
      await admin(machine, '/api-keys/workspace/service', {
        name: 'k',
        workspace_id: 'ws-default',
        scopes: ['completions.write'],
      })
    ).key;

  /** Returns the status of a call, and the credential that the provider received for it. */
  async function call(apiKey: string): Promise<[number, string | undefined]> {
    credentials.length = 0;
    const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-svc-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ model: '@one/m', messages: [{ role: 'user', content: 'hello' }] }),
    });
    await reply.arrayBuffer();
    return [reply.status, credentials[0]];
  }

  it('is introduced machine by machine, and no call is refused', async () => {
    await first.restart(before);
    await Promise.all([second.restart(before), gateway.restart(before)]);
    const firstKeys = JSON.parse(await readFile(join(folder, 'first', 'first-keys.json'), 'utf8'));
    adminKey = firstKeys.admin_key;
    await admin(first, '/integrations', {
      ...{ name: 'One', slug: 'one', ai_provider_id: 'openai', key: 'sk-planted', create_default_provider: false },
      configurations: { custom_host: `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1` },
    });
    await admin(first, '/providers', { name: 'One', slug: 'one', integration_id: 'one', workspace_id: 'ws-default' });
    const apiKeys: string[] = [firstKeys.workspace_key];
    const served = async () => {
      for (const apiKey of apiKeys) expect(await call(apiKey)).toEqual([200, 'Bearer sk-planted']);
    };
    await served();

    // One control plane has both keys, everything else the earlier one.
    await first.restart(both);
    apiKeys.push(await newKey(first), await newKey(second));
    await served();
    await Promise.all([second.restart(both), gateway.restart(both)]);
    await served();

    let isReplaced = false;
    const calling = (async () => {
      while (!isReplaced) await served();
    })();
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [await productFile('admin/commands/recover'), 'encryption-key'],
      {
        env: {
          PATH: process.env.PATH,
          ...cheapStartEnv,
          ...shared,
          ...both,
          DATABASE_URL: database.url,
          DATA_DIR: join(folder, 'first'),
        },
      },
    );
    isReplaced = true;
    await calling;
    expect(stdout).toMatch(/^Sealed 1 data key of 1 organisation with ENCRYPTION_KEY\./);
    for (const secret of [earlier, later]) expect(stdout).not.toContain(secret);

    // One control plane has the new key only, everything else both.
    await second.restart(after);
    apiKeys.push(await newKey(first), await newKey(second));
    await served();
    await Promise.all([first.restart(after), gateway.restart(after)]);
    await served();

    // The documents on the disk are sealed with the new key, and the pepper of API keys is among them.
    await first.stop();
    await gateway.restart(after);
    await served();

    // A machine that was left out is not ready, and names the setting.
    await first.restart(after);
    await gateway.restart(before, (status) => status === 503);
    expect(await (await fetch(`${gateway.url}/ready`)).text()).toContain('ENCRYPTION_KEY: ');
    for (const { output } of [first, second, gateway])
      for (const secret of [earlier, later, 'sk-planted']) expect(output).not.toContain(secret);
  }, 400_000);
});

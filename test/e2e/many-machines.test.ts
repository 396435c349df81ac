import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newTestDatabase, postgresMissing, type TestDatabase } from '../admin/support/test-database.ts';
import { adminClient } from '../support/clients/admin-client.ts';
import { freePorts } from '../support/processes/free-port.ts';
import { type NatsServer, natsMissing, newNatsServer } from '../support/processes/nats-server.ts';
import { productFile } from '../support/product/product.ts';
import { cheapStartEnv } from '../support/product/source-process.ts';
import { newPersonWithCredentials } from '../support/samples/person-with-credentials.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const program = await productFile('core/supervisor/main');
const guide = readFileSync(join(root, 'docs/guides/many-machines.md'), 'utf8');
/** The commands of the guide in order: shared settings, control plane, gateway, check. */
const [sharedSettings, controlPlane, gateway, check] = [...guide.matchAll(/```sh\n(.*?)```/gs)].map(
  (match) => match[1] as string,
);

/** One machine of the guide: a folder and an address of its own on the loopback network. */
interface Machine {
  readonly folder: string;
  readonly process: ChildProcess;
  printed: string;
}

describe.skipIf(postgresMissing !== null || natsMissing !== null)('the guide for many machines', () => {
  let folder: string;
  let database: TestDatabase;
  let nats: NatsServer;
  let ports: { readonly gateway: number; readonly controlPlane: number };
  const machines = new Map<string, Machine>();
  const balancers: Server[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'many-machines-'));
    [database, nats] = await Promise.all([newTestDatabase(), newNatsServer()]);
    await nats.start();
    const [a, b] = (await freePorts(2)) as [number, number];
    ports = { gateway: a, controlPlane: b };
    await balance('10.0.0.10', ports.controlPlane, ['10.0.0.11', '10.0.0.12']);
    await balance('10.0.0.20', ports.gateway, ['10.0.0.21', '10.0.0.22', '10.0.0.23']);
    await run('bash', ['-euc', here(sharedSettings as string)], { cwd: folder });
    // The first control plane makes the tables and the keys, as on the day of the installation.
    start('10.0.0.11', controlPlane as string);
    await until(() => existsSync(join(folder, '10.0.0.11/.data/first-keys.json')), { deadlineMs: 90_000, what: said() });
    start('10.0.0.12', controlPlane as string);
    for (const address of ['10.0.0.21', '10.0.0.22', '10.0.0.23']) start(address, gateway as string);
    for (const address of ['10.0.0.11', '10.0.0.12']) await ready(address, ports.controlPlane);
    for (const address of ['10.0.0.21', '10.0.0.22', '10.0.0.23']) await ready(address, ports.gateway);
  }, 240_000);

  afterAll(async () => {
    for (const { process: child } of machines.values()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    for (const balancer of balancers) balancer.close();
    await nats?.kill();
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  }, 120_000);

  const loopback = (text: string) => text.replaceAll('10.0.0.', '127.0.10.');

  /** A command as it stands, but on this machine: its loopback addresses, free ports, its PostgreSQL and NATS. */
  function here(command: string): string {
    return loopback(
      command
        .replace('postgresql://gateway:password@10.0.0.2:5432/gateway', database.url)
        .replace('nats://10.0.0.3:4222', nats.url)
        .replaceAll(':8787', `:${ports.gateway}`)
        .replaceAll(':8788', `:${ports.controlPlane}`)
        .replace('npm start', `exec node ${program}`),
    );
  }

  /** Types the commands on the machine with this address. */
  function start(address: string, commands: string): void {
    const own = join(folder, address);
    mkdirSync(own, { recursive: true });
    copyFileSync(join(folder, 'cluster.env'), join(own, 'cluster.env'));
    const typed = here(commands).replace(/^ADDRESS=.*$/m, `ADDRESS=${loopback(address)}`);
    const env = {
      ...{
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        LOG_LEVEL: 'warn',
        GATEWAY_PROCESSES: '1',
        DRAIN_TIMEOUT: '2000',
        ...cheapStartEnv,
      },
      ...{ PORT: String(ports.gateway), CONTROL_PLANE_PORT: String(ports.controlPlane) },
    };
    const child = spawn('bash', ['-euc', typed], { cwd: own, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const machine: Machine = { folder: own, process: child, printed: '' };
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text: Buffer) => {
        machine.printed += text;
      });
    }
    machines.set(address, machine);
  }

  async function ready(address: string, port: number): Promise<void> {
    await until(async () => (await fetch(`http://${loopback(address)}:${port}/ready`)).status === 200, {
      deadlineMs: 90_000,
      what: `${address} to be ready\n${said()}`,
    });
  }

  const said = () => [...machines].map(([address, { printed }]) => `${address}: ${printed}`).join('\n');

  /** A load balancer: each connection goes to the next machine that takes it. */
  async function balance(address: string, port: number, behind: readonly string[]): Promise<void> {
    let turn = 0;
    const server = createServer((client) => {
      const attempt = (left: number): void => {
        const upstream = connect(port, loopback(behind[turn++ % behind.length] as string));
        upstream.once('connect', () => {
          client.pipe(upstream).pipe(client);
          client.once('close', () => upstream.destroy());
        });
        upstream.once('error', () => (upstream.bytesRead === 0 && left > 1 ? attempt(left - 1) : client.destroy()));
      };
      client.on('error', () => {});
      attempt(behind.length);
    });
    balancers.push(server);
    await once(server.listen(port, loopback(address)), 'listening');
  }

  const typeCheck = () => run('bash', ['-euc', here(check as string)], { cwd: join(folder, '10.0.0.11') });

  it('ends with a ready cluster that serves admin requests and calls', async () => {
    const { stdout } = await typeCheck();
    expect(stdout).toContain('"message":"Ready"');
    expect(stdout).toContain('hello from the cluster');
  });

  it('lets the control plane reach a gateway: an integration can be tested', async () => {
    const base = loopback(`http://10.0.0.20:${ports.gateway}/v1`);
    const keys = JSON.parse(readFileSync(join(folder, '10.0.0.11/.data/first-keys.json'), 'utf8'));
    const headers = { 'x-svc-api-key': keys.admin_key, 'content-type': 'application/json' };
    const body = JSON.stringify({ name: 'Mock', slug: 'mock-two', ai_provider_id: 'mock' });
    expect((await fetch(`${base}/integrations`, { method: 'POST', headers, body })).status).toBe(200);
    const tested = await fetch(`${base}/integrations/mock-two/test`, { method: 'POST', headers, body: '{}' });
    expect([tested.status, await tested.text()]).toEqual([200, expect.not.stringContaining('AB10')]);
  });

  it('ends the access of a user whom the directory deactivates, at every gateway', async () => {
    const origin = loopback(`http://10.0.0.20:${ports.gateway}`);
    const keys = JSON.parse(readFileSync(join(folder, '10.0.0.11/.data/first-keys.json'), 'utf8'));
    const workspaceId = keys.workspace_id;
    const admin = adminClient(origin, keys.admin_key, workspaceId);
    const { slug } = (await admin.get(`/admin/workspaces/${workspaceId}`)).body;
    const fields = { name: 'Tools', slug: 'tools', workspace_id: workspaceId };
    const target = { url: 'https://mcp.example.com/mcp', transport: 'http', auth_type: 'none' };
    const { id } = await admin.create('/mcp-integrations', { ...fields, ...target });
    await admin.create('/mcp-servers', { ...fields, mcp_integration_id: id });
    const service = { admin, origin, workspaceId, mcpPath: `/${slug}/tools/mcp` };
    const person = await newPersonWithCredentials(service, 'leaver@example.com');
    const gateways = ['10.0.0.21', '10.0.0.22', '10.0.0.23'].map((address) => loopback(`http://${address}:${ports.gateway}`));
    const statuses = async (at: string) =>
      Promise.all(person.credentials.map(async ({ what, statusAt }) => [what, await statusAt(at)] as const));
    for (const at of gateways) for (const [, status] of await statuses(at)) expect(status).not.toBe(401);

    const { token, base_url } = (await admin.post('/scim/tokens', { name: 'directory' })).body;
    const reply = await fetch(`${base_url}/Users/${person.id}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      body: JSON.stringify({ Operations: [{ op: 'Replace', path: 'active', value: 'False' }] }),
    });
    expect(await reply.json()).toMatchObject({ id: person.id, active: false, groups: [] });
    expect((await admin.get(`/admin/workspaces/${workspaceId}/users/${person.id}`)).status).toBe(404);
    for (const at of gateways) {
      await until(async () => (await statuses(at)).every(([, status]) => status === 401), {
        what: `401 for every credential at ${at}, got ${JSON.stringify(await statuses(at))}`,
      });
    }
  });

  it('continues without a gateway and a control plane', async () => {
    for (const address of ['10.0.0.11', '10.0.0.22']) {
      const { process: child } = machines.get(address) as Machine;
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    for (let i = 0; i < 4; i++) expect((await typeCheck()).stdout).toContain('hello from the cluster');
  });
});

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { copyEmptyDataDir } from '../admin/support/pgdata-template.ts';
import { type FakeControlPlane, startFakeControlPlane } from '../support/fakes/fake-control-plane.ts';
import { freePorts } from '../support/processes/free-port.ts';
import { type LoneGateway, startLoneGateway } from '../support/product/lone-gateway.ts';
import { productFile } from '../support/product/product.ts';
import { cheapStartEnv } from '../support/product/source-process.ts';
import { until } from '../support/until.ts';

const program = await productFile('core/supervisor/main');
const key = (byte: number) => Buffer.alloc(32, byte).toString('base64');

/** The program in its own process group, as a process manager starts it. */
class Service {
  readonly origin: string;
  readonly process: ChildProcess;
  printed = '';

  constructor(port: number, env: Readonly<Record<string, string>>) {
    this.origin = `http://127.0.0.1:${port}`;
    this.process = spawn(process.execPath, [program], {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, ...cheapStartEnv, PORT: String(port), GATEWAY_PROCESSES: '1', ...env },
    });
    for (const stream of [this.process.stdout, this.process.stderr]) stream?.on('data', (text) => (this.printed += text));
  }

  signalGroup(signal: NodeJS.Signals): void {
    process.kill(-(this.process.pid as number), signal);
  }

  /** Resolves with the body of /ready once it has this status. */
  async ready(status: number): Promise<{ reasons?: { dependency: string; message: string }[] }> {
    return until(
      async () => {
        const reply = await fetch(`${this.origin}/ready`);
        const body = (await reply.json()) as { reasons?: { dependency: string; message: string }[] };
        return reply.status === status && body;
      },
      { deadlineMs: 60_000, what: `/ready with ${status}; printed\n${this.printed}` },
    );
  }
}

let service: Service | null = null;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'shutdown-'));
});

afterEach(async () => {
  if (service && service.process.exitCode === null && service.process.signalCode === null) {
    service.signalGroup('SIGKILL');
    await once(service.process, 'exit');
  }
  service = null;
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('signals to the whole process group', () => {
  it('end nothing with SIGHUP, and let a running stream finish with SIGTERM', async () => {
    const [port, controlPlanePort] = (await freePorts(2)) as [number, number];
    const dataDir = join(folder, 'whole');
    await copyEmptyDataDir(dataDir);
    service = new Service(port, { CONTROL_PLANE_PORT: String(controlPlanePort), DATA_DIR: dataDir });
    await service.ready(200);
    const { workspace_key } = JSON.parse(readFileSync(join(dataDir, 'first-keys.json'), 'utf8'));
    service.signalGroup('SIGHUP');
    const reply = await fetch(`${service.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-svc-api-key': workspace_key, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: '@mock/text:one two three four five six seven eight nine ten;cadence=100',
        messages: [{ role: 'user', content: 'hello' }],
        stream: true,
      }),
    });
    expect(reply.status).toBe(200);
    service.signalGroup('SIGTERM');
    const events = (await reply.text()).trimEnd();
    expect(events).toContain('ten');
    expect(events.endsWith('data: [DONE]')).toBe(true);
    if (service.process.exitCode === null) await once(service.process, 'exit');
    expect(service.process.exitCode).toBe(0);
    expect(service.printed).not.toContain('process did not stop cleanly');
    expect(service.printed).toContain('SIGHUP: gateways reload their certificate files');
  });
});

describe('readiness', () => {
  let plane: FakeControlPlane;
  beforeAll(async () => {
    plane = await startFakeControlPlane();
  });
  afterAll(() => plane.stop());

  it('is 503 with the reason until the control plane replies, and then the gateway is reported ready', async () => {
    const [port] = (await freePorts(1)) as [number];
    await plane.stop();
    service = new Service(port, {
      ...{ ROLE: 'gateway', CONTROL_PLANE_URL: plane.url, DATA_DIR: join(folder, 'alone') },
      ...{ ENCRYPTION_KEY: key(1), CLUSTER_KEY: key(2) },
    });
    const { reasons } = await service.ready(503);
    expect(reasons).toEqual([{ dependency: 'control-plane', message: expect.stringMatching(/DATABASE_URL.*CONTROL_PLANE_URL/) }]);
    await until(() => service?.printed.includes('the gateway listens but is not ready'));
    expect(service.printed).not.toContain('gateway ready on');
    await plane.restart();
    await service.ready(200);
    await until(() => service?.printed.includes(`gateway ready on ${service.origin}/v1`));
  });
});

describe('DRAIN_DELAY', () => {
  let gateway: LoneGateway;
  beforeAll(async () => {
    gateway = await startLoneGateway({ DRAIN_DELAY: '2000' });
  });

  it('turns /ready to 503 while the listener still serves new connections, and closes each after its reply', async () => {
    const closed = gateway.close();
    const body = await until(async () => {
      const reply = await fetch(`${gateway.origin}/ready`);
      const said = await reply.json();
      return reply.status === 503 && said;
    });
    expect(body).toMatchObject({ reasons: [{ dependency: 'shutdown' }] });
    const served = await gateway.call('/chat/completions', { body: { model: '@mock/echo', messages: [] } });
    expect(served.status).not.toBe(503);
    expect(served.headers.get('connection')).toBe('close');
    await closed;
  });

  it('closes connections of gateways to a control plane that stops', async () => {
    const [port] = await freePorts(1);
    const dataDir = join(folder, 'control-plane');
    await copyEmptyDataDir(dataDir);
    service = new Service(port as number, {
      ...{ ROLE: 'control-plane', CONTROL_PLANE_PORT: String(port), DATA_DIR: dataDir, DRAIN_DELAY: '2000' },
      ...{ ENCRYPTION_KEY: key(1), CLUSTER_KEY: key(2) },
    });
    await service.ready(200);
    const before = await fetch(`${service.origin}/health`);
    expect([before.status, before.headers.get('connection')]).toEqual([200, 'keep-alive']);
    const ended = once(service.process, 'exit');
    service.process.kill('SIGTERM');
    await service.ready(503);
    const after = await fetch(`${service.origin}/health`);
    expect([after.status, after.headers.get('connection')]).toEqual([200, 'close']);
    expect(await ended).toEqual([0, null]);
  });
});

import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { copyEmptyDataDir } from '../../admin/support/pgdata-template.ts';
import { newReadyDatabase, newTestDatabase, postgresMissing, type TestDatabase } from '../../admin/support/test-database.ts';
import { freePorts } from '../../support/processes/free-port.ts';
import { productFile } from '../../support/product/product.ts';
import { cheapStartEnv } from '../../support/product/source-process.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const program = await productFile('core/supervisor/main');
const verifyAudit = await productFile('admin/commands/verify-audit');

/** The shell blocks of a guide in order. */
function blocksOf(name: string): string[] {
  const text = readFileSync(join(root, 'docs/guides', name), 'utf8');
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map((match) => match[1] as string);
}

/** Returns what a `systemctl` line does, undefined for other lines. */
const serviceCommand = (line = ''): string | undefined => /^systemctl (\w+) svc-gateway$/.exec(line)?.[1];

/** One machine of a guide: a folder, free ports, and a service that `systemctl` lines start, stop and reload. */
class Machine {
  readonly folder = mkdtempSync(join(tmpdir(), 'operations-guides-'));
  readonly dataDir = join(this.folder, 'svc-gateway');
  readonly programs = join(this.folder, 'opt');
  env: NodeJS.ProcessEnv = {};
  #child: ChildProcess | null = null;
  #printed = '';

  async prepare(): Promise<void> {
    const [port, controlPlanePort] = await freePorts(2);
    mkdirSync(this.dataDir);
    this.env = {
      ...{ PATH: process.env.PATH, HOME: process.env.HOME, LOG_LEVEL: 'warn', GATEWAY_PROCESSES: '1', ...cheapStartEnv },
      ...{ PORT: String(port), CONTROL_PLANE_PORT: String(controlPlanePort), DATA_DIR: this.dataDir, DRAIN_TIMEOUT: '2000' },
    };
  }

  /** Runs the lines of a block one by one on this machine. Returns what they print. */
  async type(block: string): Promise<string> {
    let printed = '';
    const lines = block.trim().split('\n');
    for (const [index, line] of lines.entries()) {
      const service = serviceCommand(line);
      // A start takes seconds of CPU. A restart that follows at once starts the service on the same data, and a stop ends it unused.
      if (service === 'start' && ['restart', 'stop'].includes(serviceCommand(lines[index + 1]) ?? '')) continue;
      if (service === 'stop' || service === 'restart') await this.stop();
      if (service === 'start' || service === 'restart') await this.start('npm start');
      if (service === 'reload') this.#child?.kill('SIGHUP');
      if (service !== undefined) continue;
      printed += (await run('bash', ['-euo', 'pipefail', '-c', this.here(line)], { cwd: this.folder, env: this.env })).stdout;
    }
    return printed;
  }

  /** Runs the command that starts the service, and waits until it is ready. */
  async start(command: string): Promise<void> {
    const child = spawn('bash', ['-euc', this.here(command)], {
      cwd: this.folder,
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (this.#printed += text));
    const isReady = async () => child.exitCode !== null || (await this.isReady('http')) || (await this.isReady('https'));
    await until(isReady, { deadlineMs: 90_000, what: 'the service to be ready' });
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}\n${this.#printed}`);
  }

  /**
   * Returns true if the gateway is ready and reaches the control plane, with any certificate, and false if it speaks the other protocol.
   * On a busy machine a gateway is ready before its control plane, which replies 401 to a request without a key.
   */
  private async isReady(protocol: 'http' | 'https'): Promise<boolean> {
    return (await this.statusOf(protocol, '/ready')) === 200 && (await this.statusOf(protocol, '/v1/configs')) === 401;
  }

  private statusOf(protocol: 'http' | 'https', path: string): Promise<number | undefined> {
    const options = { host: '127.0.0.1', port: this.env.PORT, path, rejectUnauthorized: false };
    return new Promise((resolve) => {
      (protocol === 'https' ? https : http)
        .get(options, (reply) => resolve(reply.resume().statusCode))
        .on('error', () => resolve(undefined));
    });
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }

  here(command: string): string {
    return command
      .replaceAll('/var/lib', this.folder)
      .replaceAll('/opt', this.programs)
      .replaceAll(':8787', `:${this.env.PORT}`)
      .replaceAll('sudo -u svc-gateway ', '')
      .replaceAll('npm run audit:verify', `node ${verifyAudit}`)
      .replaceAll('npm start', `exec node ${program}`);
  }

  /** Calls the admin API with the first admin key. */
  async admin(method: string, path: string, body?: object): Promise<number> {
    const keys = JSON.parse(readFileSync(join(this.dataDir, 'first-keys.json'), 'utf8'));
    const headers = { 'x-svc-api-key': keys.admin_key, 'content-type': 'application/json' };
    const reply = await fetch(`http://127.0.0.1:${this.env.PORT}/v1${path}`, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    await reply.arrayBuffer();
    return reply.status;
  }

  /** Saves a config with this slug. */
  save(slug: string): Promise<number> {
    return this.admin('POST', '/configs', { name: slug, slug, config: { provider: '@mock' } });
  }
}

let machine: Machine;

beforeEach(async () => {
  machine = new Machine();
  await machine.prepare();
}, 60_000);
afterEach(async () => {
  await machine.stop();
  rmSync(machine.folder, { recursive: true, force: true });
}, 60_000);

describe('docs/guides/tls.md', () => {
  // The guide says nothing of databases; a server starts the service faster than the embedded one.
  let database: TestDatabase | null = null;
  beforeEach(async () => {
    if (postgresMissing !== null) return await copyEmptyDataDir(machine.dataDir);
    database = await newReadyDatabase();
    machine.env.DATABASE_URL = database.url;
  });
  afterEach(async () => {
    await machine.stop();
    await database?.drop();
    database = null;
  });

  const [own, check, renew, proxy] = blocksOf('tls.md') as [string, string, string, string];
  const [certificate, start] = own.trim().split('\n') as [string, string];

  it('the gateway serves TLS, and a new certificate after a reload', async () => {
    await machine.type(certificate);
    await machine.start(start);
    expect(await machine.type(check)).toContain('Ready');
    await machine.type(renew);
    // curl trusts only the new certificate: the check fails while the old one is served.
    await until(
      () =>
        machine.type(check).then(
          (text) => text.includes('Ready'),
          () => false,
        ),
      { what: 'the new certificate' },
    );
  }, 240_000);

  it.skipIf(spawnSync('nginx', ['-v']).error !== undefined)(
    'nginx forwards to a gateway that listens, except for its metrics',
    async () => {
      const [port, stopped] = (await freePorts(2)) as [number, number];
      await machine.type(certificate);
      await machine.start(proxy.trim().split('\n').at(-1) as string);
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${machine.folder}/${name};`,
      );
      const site = machine
        .here(readFileSync(join(root, 'docs/nginx/svc-gateway.conf'), 'utf8'))
        .replace('listen 443', `listen 127.0.0.1:${port}`)
        .replaceAll('/etc/nginx/tls', machine.folder)
        .replace('  keepalive', `  server 127.0.0.1:${stopped} max_fails=0;\n$&`);
      const conf = join(machine.folder, 'nginx.conf');
      writeFileSync(
        conf,
        `daemon off; pid ${machine.folder}/nginx.pid; error_log stderr; events {} http { access_log off; ${paths.join(' ')} ${site} }`,
      );
      await run('nginx', ['-t', '-c', conf, '-e', 'stderr']);
      const nginx = spawn('nginx', ['-c', conf, '-e', 'stderr'], { stdio: 'ignore' });
      try {
        const origin = ['-sfS', '--cacert', join(machine.folder, 'gateway.crt'), `https://localhost:${port}`];
        const request = (path: string) => origin.with(-1, `${origin.at(-1)}${path}`);
        const reply = await until(
          () =>
            run('curl', request('/ready')).then(
              ({ stdout }) => stdout,
              () => null,
            ),
          { what: 'a reply of nginx' },
        );
        expect(reply).toContain('Ready');
        await expect(run('curl', request('/metrics'))).rejects.toThrow('404');
        for (let round = 0; round < 3; round++)
          await expect(run('curl', [...request('/v1/chat/completions'), '-d', '{}'])).rejects.toThrow('401');
      } finally {
        nginx.kill('SIGTERM');
        await once(nginx, 'exit');
      }
    },
    120_000,
  );
});

describe('docs/guides/backup-and-upgrade.md', () => {
  const [backUp = '', restore = '', dump = '', load = '', , exchange = ''] = blocksOf('backup-and-upgrade.md');

  it('the embedded database comes back as it was, and the service restarts in the folder of a new version', async () => {
    await copyEmptyDataDir(machine.dataDir);
    await machine.start('npm start');
    expect(await machine.save('before')).toBe(200);
    // The block before installs the new version, from a repository on another machine.
    for (const name of ['svc-gateway', 'svc-gateway.new']) mkdirSync(join(machine.programs, name), { recursive: true });
    writeFileSync(join(machine.programs, 'svc-gateway.new/new'), '');
    // The restore meets a folder whose database has been lost since.
    const lost = backUp.replace(/^systemctl start/m, 'rm -r /var/lib/svc-gateway/*\n$&');
    expect(await machine.type(`${lost}${restore}${exchange}`)).toContain('intact');
    expect(await machine.admin('GET', '/configs/before')).toBe(200);
    expect(readdirSync(`${machine.dataDir}.old`)).toEqual([]);
    expect(readdirSync(join(machine.programs, 'svc-gateway'))).toEqual(['new']);
    expect(readdirSync(machine.programs).toSorted()).toEqual(['svc-gateway', 'svc-gateway.old']);
  }, 300_000);

  const toolsMissing = postgresMissing !== null || spawnSync('pg_dump', ['--version']).error !== undefined;
  describe.skipIf(toolsMissing)('with PostgreSQL', () => {
    let databases: TestDatabase[] = [];
    beforeEach(async () => {
      databases = [await newReadyDatabase(), await newTestDatabase()];
    });
    afterEach(async () => {
      await machine.stop();
      for (const database of databases) await database.drop();
    });

    it('a dump restores into an empty database', async () => {
      const [first, second] = databases as [TestDatabase, TestDatabase];
      machine.env.DATABASE_URL = first.url;
      await machine.start('npm start');
      expect(await machine.save('before')).toBe(200);
      await machine.type(dump);
      expect(await machine.save('after')).toBe(200);
      await machine.stop();
      machine.env.DATABASE_URL = second.url;
      expect(await machine.type(load)).toContain('intact');
      await machine.start('npm start');
      expect([await machine.admin('GET', '/configs/before'), await machine.admin('GET', '/configs/after')]).toEqual([200, 404]);
    }, 300_000);
  });
});

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresMissing } from '../../admin/support/test-database.ts';
import { freePorts } from '../../support/processes/free-port.ts';
import { natsMissing } from '../../support/processes/nats-server.ts';
import { type RunningGateway, startGateway } from '../../support/product/start-gateway.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
const missing = postgresMissing ?? natsMissing;
const page = readFileSync(join(import.meta.dirname, '../../../docs/guides/postgresql-and-nats.md'), 'utf8');
const [createDatabase, writeConf, startNats, start, checks] = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(
  (match) => match[1],
) as [string, string, string, string, string];

if (missing) console.warn(`skipped: the guide for PostgreSQL and NATS (${missing})`);
describe.skipIf(missing)('docs/guides/postgresql-and-nats.md', () => {
  const admin = new URL(process.env.TEST_DATABASE_URL ?? 'postgresql://localhost');
  const name = `svc_guide_${process.pid}`;
  let folder: string;
  let ports: number[];
  let nats: ChildProcess | null = null;
  let gateway: RunningGateway | null = null;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'postgresql-guide-'));
    ports = await freePorts(2);
  });
  afterAll(async () => {
    await gateway?.stop();
    nats?.kill();
    await psql(`drop database if exists ${name} with (force)`);
    await psql(`drop role if exists ${name}`);
    rmSync(folder, { recursive: true, force: true });
  });

  /** Replaces the names and addresses of the guide with those of this test. */
  const here = (text: string): string =>
    text
      .replaceAll('svc_gateway', name)
      .replaceAll('10.0.0.2:5432', admin.host)
      .replaceAll('10.0.0.3:4222', `127.0.0.1:${ports[0]}`)
      .replaceAll('10.0.0.3:8222', `127.0.0.1:${ports[1]}`);
  const shell = async (script: string, env: Record<string, string> = {}): Promise<string> =>
    (await run('bash', ['-euo', 'pipefail', '-c', here(script)], { cwd: folder, env: { ...process.env, ...env } })).stdout;
  const psql = (statement: string) => run('psql', [admin.href, '-c', statement]);

  it('starts the service on both, and shows its connections', async () => {
    await shell(createDatabase, { ADMIN_URL: admin.href });
    await shell(writeConf);
    const [command, ...args] = startNats.trim().split(' ');
    expect(command).toBe('nats-server');
    nats = spawn(process.env.NATS_SERVER ?? 'nats-server', args, { cwd: folder, stdio: 'ignore' });
    const ended = once(nats, 'exit').then(() => 'ended');
    const exported = await shell(start.replace('npm start', 'env'));
    const exportOf = (setting: string) => new RegExp(`^${setting}=(.*)$`, 'm').exec(exported)?.[1] ?? '';
    gateway = await startGateway({ env: { DATABASE_URL: exportOf('DATABASE_URL'), NATS_URL: exportOf('NATS_URL') } });
    const shown = await until(
      async () => {
        const output = await shell(checks, { DATABASE_URL: exportOf('DATABASE_URL') }).catch(() => '');
        return /svc control plane/.test(output) && /svc gateway/.test(output) && output;
      },
      { what: 'the connections to NATS', deadlineMs: 30_000 },
    );
    expect(shown.split('\n')[0]).toBe('1');
    const restarted = await gateway.admin.createConfig({ retry: { attempts: 1 } });
    expect(restarted).toMatch(/^[\w-]+$/);
    nats.kill();
    expect(await ended).toBe('ended');
    expect((await gateway.admin.get('/configs')).status).toBe(200);
  }, 120_000);
});

import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../test/support/processes/free-port.ts';
import type { Service } from './service.ts';

/** Starts a PostgreSQL server with an empty database. Null if none is installed. */
export async function startPostgres(): Promise<Service | null> {
  const programs = findPrograms();
  if (!programs) return null;
  const folder = mkdtempSync(join(tmpdir(), 'svc-postgres-'));
  const port = await freePort();
  // PostgreSQL refuses to run as root, so it runs under the account that Debian creates for it.
  const account = process.getuid?.() === 0 ? accountOf('postgres') : null;
  if (account) chownSync(folder, account.uid, account.gid);
  const run = (program: string, args: readonly string[]) =>
    execFileSync(join(programs, program), args, {
      cwd: folder,
      stdio: 'ignore',
      env: { PATH: process.env.PATH },
      ...(account ?? {}),
    });
  const data = join(folder, 'data');
  run('initdb', ['-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--no-sync']);
  const settings = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c fsync=off`;
  const service: Service = {
    url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    async up() {
      run('pg_ctl', ['-D', data, '-l', join(folder, 'log'), '-w', '-o', settings, 'start']);
    },
    async down() {
      if (existsSync(join(data, 'postmaster.pid'))) run('pg_ctl', ['-D', data, '-m', 'immediate', '-w', 'stop']);
    },
    async close() {
      await service.down();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await service.up();
  return service;
}

/** Returns the folder of the newest installed server's programs; Debian does not add it to PATH. Null if there is none. */
function findPrograms(): string | null {
  const root = '/usr/lib/postgresql';
  if (!existsSync(root)) return null;
  const versions = readdirSync(root).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(root, version, 'bin')).find((folder) => existsSync(join(folder, 'initdb'))) ?? null;
}

function accountOf(name: string): { uid: number; gid: number } {
  const ask = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }));
  return { uid: ask('-u'), gid: ask('-g') };
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type DataDirHold, holdDataDir } from '../../../core/supervisor/hold-data-dir.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'svc-hold-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const release = (hold: DataDirHold) => hold.error === null && hold.release();

/** Another process that holds the folder until it is killed. */
async function holder(role: string) {
  const module = join(import.meta.dirname, '../../../core/supervisor/hold-data-dir.ts');
  const code = `const { holdDataDir } = await import(${JSON.stringify(module)});
    await holdDataDir({ dataDir: ${JSON.stringify(dataDir)}, role: '${role}' });
    console.log('held'); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

it('data directory: rejects a folder in use, naming the process, and takes it over if that one was killed', async () => {
  const other = await holder('all');
  const refused = await holdDataDir({ dataDir, role: 'all' }, 100);
  expect(refused.error).toContain(`DATA_DIR: got "${dataDir}"`);
  expect(refused.error).toContain(`process ${other.pid} `);
  other.kill('SIGKILL');
  await once(other, 'exit');
  const hold = await holdDataDir({ dataDir, role: 'all' }, 0);
  expect(hold.error).toBeNull();
  release(hold);
  expect(readdirSync(dataDir)).toEqual([]);
});

it('data directory: accepts a copy of a folder in use', async () => {
  const other = await holder('all');
  const copy = mkdtempSync(join(tmpdir(), 'svc-hold-copy-'));
  cpSync(dataDir, copy, { recursive: true });
  const hold = await holdDataDir({ dataDir: copy, role: 'all' }, 0);
  expect(hold.error).toBeNull();
  release(hold);
  other.kill('SIGKILL');
  await once(other, 'exit');
  rmSync(copy, { recursive: true });
});

it('data directory: waits for a run that is just ending', async () => {
  const other = await holder('gateway');
  const waiting = holdDataDir({ dataDir, role: 'gateway' });
  other.kill('SIGKILL');
  const hold = await waiting;
  expect(hold.error).toBeNull();
  release(hold);
});

it('data directory: gateways and control plane of one machine can share it as two services, and no third', async () => {
  const gateways = await holder('gateway');
  const hold = await holdDataDir({ dataDir, role: 'control-plane' }, 0);
  expect(hold.error).toBeNull();
  release(hold);
  expect((await holdDataDir({ dataDir, role: 'all' }, 0)).error).toContain(`process ${gateways.pid} `);
  gateways.kill('SIGKILL');
});

it('data directory: is not confused by another process with the same id', async () => {
  writeFileSync(join(dataDir, 'gateway.running'), `${process.ppid} 1`);
  const hold = await holdDataDir({ dataDir, role: 'gateway' }, 0);
  expect(hold.error).toBeNull();
  release(hold);
});

const isRoot = process.getuid?.() === 0;

it.each([
  ['an unreadable file', (path: string) => writeFileSync(path, '', { mode: 0 }), 'EACCES', isRoot],
  // Fails for every user, also root.
  ['a link to itself', (path: string) => symlinkSync(path, path), 'ELOOP', false],
])('data directory: rejects %s of an earlier run, and names it', async (_, create, code, isSkipped) => {
  if (isSkipped) return;
  mkdirSync(join(dataDir, 'spool/0'), { recursive: true });
  const path = join(dataDir, 'spool/0/1.records');
  create(path);
  const refused = await holdDataDir({ dataDir, role: 'all' }, 0);
  expect(refused.error).toContain(`DATA_DIR: got "${dataDir}"`);
  expect(refused.error).toContain(code);
  expect(refused.error).toContain(path);
  expect(readdirSync(dataDir)).toEqual(['spool']);
});

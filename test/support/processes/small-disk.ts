import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** Runs commands of a shell in a namespace in which `$DISK` is an empty disk of 6 MiB. */
export function runOnSmallDisk(script: string, env: Readonly<Record<string, string>> = {}) {
  const disk = mkdtempSync(join(tmpdir(), 'small-disk-'));
  afterAll(() => rmSync(disk, { recursive: true, force: true }));
  const mounted = `mount -t tmpfs -o size=6m tmpfs "$DISK" || exit; ${script}`;
  return spawnSync('unshare', ['--mount', '--map-root-user', 'sh', '-c', mounted], {
    env: { PATH: process.env.PATH, DISK: disk, NODE: process.execPath, ...env },
    encoding: 'utf8',
  });
}

/** False on machines that do not allow namespaces. */
export const hasSmallDisk = runOnSmallDisk('').status === 0;
if (!hasSmallDisk) console.warn('unshare cannot mount a disk here: tests of a full disk are skipped');

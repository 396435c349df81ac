import { join } from 'node:path';
import { expect, it } from 'vitest';
import { freePort } from '../../support/processes/free-port.ts';
import { hasSmallDisk, runOnSmallDisk } from '../../support/processes/small-disk.ts';

const keys = { ENCRYPTION_KEY: Buffer.alloc(32, 5).toString('base64'), CLUSTER_KEY: Buffer.alloc(32, 6).toString('base64') };

it.skipIf(!hasSmallDisk).each([
  ['with keys', keys],
  ['without keys', {}],
])('a start on a full disk %s exits with 1, so that a service manager starts it again', async (_, env) => {
  const start = `dd if=/dev/zero of="$DISK/full" bs=64k 2>/dev/null; DATA_DIR="$DISK" "$NODE" "$MAIN"`;
  const main = join(import.meta.dirname, '../../../core/supervisor/main.ts');
  const ports = { PORT: String(await freePort()), CONTROL_PLANE_PORT: String(await freePort()) };
  const { status, stderr } = runOnSmallDisk(start, { MAIN: main, ...ports, ...env });
  expect(stderr).toMatch(/^DATA_DIR: got ".*", expected a folder that this process can write \(ENOSPC: .*\)\n/m);
  expect(status).toBe(1);
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Plane, startPlaneWith, testSettings } from '../../test/admin/support/plane.ts';
import { newReadyDatabase } from '../../test/admin/support/test-database.ts';

/**
 * Starts a control plane in this process, on an empty database of the server of TEST_DATABASE_URL or on the embedded database. `close` also
 * deletes the data.
 */
export async function startPlane(isEmbedded: boolean): Promise<Plane> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-bench-records-'));
  const database = isEmbedded ? null : await newReadyDatabase();
  const plane = await startPlaneWith(testSettings(dataDir, database ? { DATABASE_URL: database.url } : {}));
  return {
    ...plane,
    async close() {
      await plane.close();
      await database?.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../admin/audit/entity.ts';
import { newAdminKey, newClusterKey } from '../../../admin/commands/new-keys.ts';
import { newId } from '../../../admin/db/new-id.ts';
import { cachedReplies } from '../../../admin/resources/cached-replies/entity.ts';
import { organisations } from '../../../admin/resources/organisations/entity.ts';
import type { Settings } from '../../../config/settings.ts';
import { productFile } from '../../support/product/product.ts';
import { cheapStartEnv } from '../../support/product/source-process.ts';
import { type EmptyDatabase, newEmptyDatabase } from '../support/empty-database.ts';
import { type Plane, startPlaneWith, testSettings } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

async function run(settings: Settings, ...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const env = {
    PATH: process.env.PATH ?? '',
    ...cheapStartEnv,
    DATA_DIR: settings.dataDir,
    ENCRYPTION_KEY: Buffer.from(settings.encryptionKey).toString('base64'),
    CLUSTER_KEY: Buffer.from(settings.clusterKey).toString('base64'),
    ...(settings.databaseUrl === null ? {} : { DATABASE_URL: settings.databaseUrl }),
  };
  const program = await productFile('admin/commands/recover');
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { env }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
  });
}

describe.each(ruleDatabases)('key commands, on %s', (name) => {
  let plane: Plane;
  let settings: Settings;
  let database: EmptyDatabase;
  beforeAll(async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'svc-recover-'));
    database = await newEmptyDatabase(name, dataDir);
    settings = testSettings(dataDir, database.env);
    plane = await startPlaneWith(settings);
  });
  afterAll(async () => {
    await plane?.close();
    await database?.drop();
    await rm(settings.dataDir, { recursive: true, force: true });
  });

  /** PostgreSQL is open to several processes; the embedded database is not. */
  async function whileStopped(...args: string[]): ReturnType<typeof run> {
    const isEmbedded = name === 'PGlite';
    if (isEmbedded) await plane.close();
    const result = await run(settings, ...args);
    if (isEmbedded) plane = await startPlaneWith(settings);
    return result;
  }

  it('npm run admin-key prints a key that works, and leaves an audit entry', async () => {
    const { code, out } = await whileStopped('admin-key');
    expect([code, out]).toEqual([0, expect.stringMatching(/^svc_admin_\S+\n$/)]);
    expect((await plane.ask('GET', '/organisations/self', { key: out.trim() })).status).toBe(200);
    const entries = await plane.control.services.database.em().find(auditEntries, { resourceType: 'api-keys' });
    expect(entries).toMatchObject([{ action: 'create', userType: 'system', clientIp: 'local' }]);
  });

  it('npm run admin-key requires the organisation if there are several', async () => {
    const other = await plane.newTenant();
    const { code, err } = await whileStopped('admin-key');
    expect([code, err]).toEqual([2, expect.stringContaining(other.organisationId)]);
    const { out } = await whileStopped('admin-key', '--organisation', other.organisationId);
    const self = await plane.ask('GET', '/organisations/self', { key: out.trim() });
    expect(self.body.data.id).toBe(other.organisationId);
  });

  it('npm run admin-key finds every organisation by its id, also if there are more than an error lists', async () => {
    const { database: open } = plane.control.services;
    const ids = Array.from({ length: 101 }, () => newId());
    const [createdAt, lastUpdatedAt] = [new Date(), new Date()];
    await open.em().insertMany(
      organisations,
      ids.map((id) => ({ id, name: 'One of many', createdAt, lastUpdatedAt })),
    );
    for (const id of ids) await expect(newAdminKey(open, settings, id)).resolves.toMatch(/^svc_admin_/);
    await expect(newAdminKey(open, settings, 'none')).rejects.toThrow('--organisation: no such organisation');
  });

  // A process loads the control plane, which takes two seconds of CPU. The exit code of a rejected command is tested above.
  it('both commands fail with another ENCRYPTION_KEY', async () => {
    const other = { ...settings, encryptionKey: new Uint8Array(randomBytes(32)) };
    const { database: open } = plane.control.services;
    await expect(newAdminKey(open, other, null)).rejects.toThrow('ENCRYPTION_KEY: cannot decrypt');
    await expect(newClusterKey(open, other)).rejects.toThrow('ENCRYPTION_KEY: cannot decrypt');
  });

  it.skipIf(name === 'PGlite')(
    'npm run cluster-key accepts another CLUSTER_KEY and deletes what the earlier one sealed',
    async () => {
      const renewed = { ...settings, clusterKey: new Uint8Array(randomBytes(32)) };
      const { organisationId, workspaceId, control } = plane;
      const em = () => control.services.database.em();
      await em().insert(cachedReplies, {
        ...{ workspaceId, organisationId, digest: 'digest', sealed: Buffer.alloc(1), bytes: 1, seq: 1 },
        ...{ namespace: null, model: null, endpoint: null, partition: null, vector: null },
        ...{ createdAt: new Date(), expiresAt: new Date() },
      });
      expect((await run(renewed, 'cluster-key')).code).toBe(0);
      expect(await em().count(cachedReplies)).toBe(0);
      await (await startPlaneWith(renewed)).close();
      await expect(startPlaneWith(settings)).rejects.toThrow(/^CLUSTER_KEY:/);
    },
  );
});

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { auditEntries } from '../../../admin/audit/entity.ts';
import type { Settings } from '../../../config/settings.ts';
import { productFile } from '../../support/product.ts';
import { compileCacheEnv } from '../../support/source-process.ts';
import { newEmptyDatabase } from '../support/empty-database.ts';
import { type Plane, startPlaneWith, testSettings } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

async function run(settings: Settings, ...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const env = {
    PATH: process.env.PATH ?? '',
    ...compileCacheEnv,
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
  async function onPlane(work: (plane: Plane, settings: Settings, whileStopped: typeof run) => Promise<void>): Promise<void> {
    const dataDir = await mkdtemp(join(tmpdir(), 'svc-recover-'));
    const database = await newEmptyDatabase(name, dataDir);
    const settings = testSettings(dataDir, database.env);
    let plane = await startPlaneWith(settings);
    // PostgreSQL is open to several processes; the embedded database is not.
    const isEmbedded = name === 'PGlite';
    const whileStopped: typeof run = async (...given) => {
      if (isEmbedded) await plane.close();
      const result = await run(...given);
      if (isEmbedded) {
        plane = await startPlaneWith(settings);
        Object.assign(current, plane);
      }
      return result;
    };
    const current = { ...plane };
    try {
      await work(current, settings, whileStopped);
    } finally {
      await plane.close();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    }
  }

  it('npm run admin-key prints a key that works, and leaves an audit entry', () =>
    onPlane(async (plane, settings, whileStopped) => {
      const { code, out } = await whileStopped(settings, 'admin-key');
      expect([code, out]).toEqual([0, expect.stringMatching(/^svc_admin_\S+\n$/)]);
      expect((await plane.ask('GET', '/organisations/self', { key: out.trim() })).status).toBe(200);
      const entries = await plane.control.services.database.em().find(auditEntries, { resourceType: 'api-keys' });
      expect(entries).toMatchObject([{ action: 'create', userType: 'system', clientIp: 'local' }]);
    }));

  it('npm run admin-key requires the organisation if there are several', () =>
    onPlane(async (plane, settings, whileStopped) => {
      const other = await plane.newTenant();
      const { code, err } = await whileStopped(settings, 'admin-key');
      expect([code, err]).toEqual([2, expect.stringContaining(other.organisationId)]);
      const { out } = await whileStopped(settings, 'admin-key', '--organisation', other.organisationId);
      const self = await plane.ask('GET', '/organisations/self', { key: out.trim() });
      expect(self.body.data.id).toBe(other.organisationId);
    }));

  it('both commands fail with another ENCRYPTION_KEY; npm run cluster-key accepts another CLUSTER_KEY', () =>
    onPlane(async (_plane, settings, whileStopped) => {
      const other = { ...settings, encryptionKey: new Uint8Array(randomBytes(32)) };
      for (const command of ['admin-key', 'cluster-key']) {
        const { code, err } = await whileStopped(other, command);
        expect([code, err]).toEqual([2, expect.stringContaining('ENCRYPTION_KEY: cannot decrypt')]);
      }
      const renewed = { ...settings, clusterKey: new Uint8Array(randomBytes(32)) };
      if (name === 'PostgreSQL') {
        expect((await run(renewed, 'cluster-key')).code).toBe(0);
        await (await startPlaneWith(renewed)).close();
        await expect(startPlaneWith(settings)).rejects.toThrow(/^CLUSTER_KEY:/);
      }
    }));
});

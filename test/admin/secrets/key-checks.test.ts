import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../admin/db/open-database.ts';
import { startControlPlane } from '../../../admin/start-control-plane.ts';
import { StartError } from '../../../admin/start-error.ts';
import { entities, migrations } from '../../../admin/tables.ts';
import type { Settings } from '../../../config/settings.ts';
import { opensKeyCheck } from '../../../core/contract/protocol/credentials/key-check.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { newEmptyDatabase } from '../support/empty-database.ts';
import { startPlaneWith, testSettings } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('the keys of a database, on %s', (name) => {
  async function onDatabase(work: (settings: Settings) => Promise<void>): Promise<void> {
    const dataDir = await mkdtemp(join(tmpdir(), 'svc-keys-'));
    const database = await newEmptyDatabase(name, dataDir);
    try {
      await work(testSettings(dataDir, database.env));
    } finally {
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    }
  }
  const starts = (settings: Settings) => startControlPlane(settings, { log: newMemoryLog() }).then((plane) => plane.close());
  const otherKey = () => new Uint8Array(randomBytes(32));

  it('are fixed by the first start: a later start with another one stops and names it', () =>
    onDatabase(async (settings) => {
      await starts(settings);
      await starts(settings);
      await expect(starts({ ...settings, encryptionKey: otherKey() })).rejects.toThrow(/^ENCRYPTION_KEY: cannot decrypt/);
      await expect(starts({ ...settings, clusterKey: otherKey() })).rejects.toThrow(/^CLUSTER_KEY: does not match/);
      await expect(starts({ ...settings, clusterKey: otherKey() })).rejects.toThrow(StartError);
      await starts(settings);
    }));

  it('are stored after an upgrade, if the key opens existing data', () =>
    onDatabase(async (settings) => {
      await starts(settings);
      const store = await openDatabase(settings, { entities, migrations }, newMemoryLog());
      await store.em().execute('delete from key_checks');
      await store.close();
      await expect(starts({ ...settings, encryptionKey: otherKey() })).rejects.toThrow(/^ENCRYPTION_KEY:/);
      await starts(settings);
      await expect(starts({ ...settings, clusterKey: otherKey() })).rejects.toThrow(/^CLUSTER_KEY:/);
    }));

  it('are sent to gateways with the cluster key, as a text that the encryption key opens', () =>
    onDatabase(async (settings) => {
      const plane = await startPlaneWith(settings);
      const { body } = await plane.internal('GET', '/key-check');
      expect(opensKeyCheck('ENCRYPTION_KEY', settings.encryptionKey, body.encryption_key)).toBe(true);
      expect(opensKeyCheck('ENCRYPTION_KEY', otherKey(), body.encryption_key)).toBe(false);
      expect((await plane.internal('GET', '/key-check', undefined, plane.adminKey)).status).toBe(401);
      await plane.close();
    }));
});

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../admin/db/open-database.ts';
import { entities, migrations } from '../../../admin/tables.ts';
import type { Settings } from '../../../config/settings.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { productFile } from '../../support/product/product.ts';
import { cheapStartEnv } from '../../support/product/source-process.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';
import { newEmptyDatabase } from '../support/empty-database.ts';
import { startPlaneWith, testSettings } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

const verify = (settings: Settings, ...options: string[]) => run('verify-audit', settings, ...options);

async function run(command: string, settings: Settings, ...options: string[]): Promise<{ code: number; text: string }> {
  const env = {
    PATH: process.env.PATH ?? '',
    ...cheapStartEnv,
    DATA_DIR: settings.dataDir,
    ENCRYPTION_KEY: Buffer.from(settings.encryptionKey).toString('base64'),
    CLUSTER_KEY: settings.clusterKeyText,
    ...(settings.databaseUrl === null ? {} : { DATABASE_URL: settings.databaseUrl }),
  };
  const program = await productFile(`admin/commands/${command}`);
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...options], { env }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, text: out + err }),
    );
  });
}

it('npm run clickhouse:copy names the setting that is missing', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-copy-'));
  try {
    const embedded = await run('copy-records', testSettings(dataDir, {}));
    expect([embedded.code, embedded.text]).toEqual([2, expect.stringMatching(/^DATABASE_URL must be set/)]);
    const server = await run('copy-records', testSettings(dataDir, { DATABASE_URL: 'postgresql://127.0.0.1:9/none' }));
    expect([server.code, server.text]).toEqual([2, expect.stringMatching(/^ANALYTICS_URL must be set/)]);
  } finally {
    await rm(dataDir, { recursive: true });
  }
});

describe.each(ruleDatabases)('npm run audit:verify, ledger:verify and rollups:rebuild, on %s', (name) => {
  it('reports every organisation, and the first invalid entry; rebuilt roll-ups equal the ledger', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'svc-verify-'));
    const database = await newEmptyDatabase(name, dataDir);
    const settings = testSettings(dataDir, database.env);
    try {
      const plane = await startPlaneWith(settings);
      const other = await plane.newTenant();
      const { organisationId } = plane;
      await plane.ask('DELETE', '/configs/none');
      const createdAt = new Date().toISOString();
      const stored = sampleRecord({ organisationId, workspaceId: plane.workspaceId, createdAt });
      expect((await plane.internal('POST', '/records', [stored])).status).toBe(200);
      await plane.close();

      const good = await verify(settings);
      expect(good).toEqual({
        code: 0,
        text: `organisation ${organisationId}: 2 entries, intact\norganisation ${other.organisationId}: 1 entry, intact\n`,
      });

      const store = await openDatabase(settings, { entities, migrations }, newMemoryLog());
      await store.em().execute('alter table audit_entries disable trigger all');
      await store
        .em()
        .execute("update audit_entries set action = 'list' where organisation_id = ? and seq = 2", [organisationId]);
      await store.em().execute('alter table audit_entries enable trigger all');
      await store.em().execute('delete from usage_rollups');
      await store.close();

      expect(await run('verify-ledger', settings)).toMatchObject({ code: 1 });
      expect(await run('rebuild-rollups', settings)).toEqual({ code: 0, text: `${createdAt.slice(0, 10)} done\n` });
      expect(await run('rebuild-rollups', settings, '--from', 'soon')).toMatchObject({
        code: 2,
        text: expect.stringContaining('--from: soon'),
      });
      const bad = await verify(settings);
      expect(bad.code).toBe(1);
      expect(bad.text).toMatch(
        new RegExp(`organisation ${organisationId}: entry 2 \\(row [0-9a-f-]{36}\\): it was changed; intact before it: 1 entry`),
      );
      expect(await verify(settings, '--organisation', other.organisationId)).toMatchObject({ code: 0 });
      expect(await verify(settings, '--organisation', 'nobody')).toEqual({
        code: 2,
        text: '--organisation: no such organisation. Send the id of an organisation, or omit it to check all\n',
      });
      expect(await run('verify-ledger', settings)).toMatchObject({ code: 0, text: expect.stringContaining('1 record,') });
      const wrongKey = { ...settings, encryptionKey: new Uint8Array(32) };
      expect(await verify(wrongKey)).toMatchObject({ code: 2, text: expect.stringMatching(/^ENCRYPTION_KEY: cannot decrypt/) });
    } finally {
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../admin/audit/entity.ts';
import { verifyChain } from '../../../admin/audit/verify-chain.ts';
import { type Replacement, replaceEncryptionKey } from '../../../admin/commands/replace-encryption-key.ts';
import { type Database, openDatabase } from '../../../admin/db/open-database.ts';
import { toAdminError } from '../../../admin/http/reply/write-error.ts';
import { readKeptKeys } from '../../../admin/secrets/kept-keys.ts';
import { createVault, type SealContext } from '../../../admin/secrets/vault.ts';
import { startControlPlane } from '../../../admin/start-control-plane.ts';
import { StartError } from '../../../admin/start-error.ts';
import { entities, migrations } from '../../../admin/tables.ts';
import type { Settings } from '../../../config/settings.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { type EmptyDatabase, newEmptyDatabase } from '../support/empty-database.ts';
import { type Plane, startPlaneWith, testSettings } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

const newKey = () => new Uint8Array(randomBytes(32));

describe.each(ruleDatabases)('npm run encryption-key, on %s', (name) => {
  let dataDir: string;
  let empty: EmptyDatabase;
  let before: Settings;
  let both: Settings;
  let after: Settings;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'svc-replace-'));
    empty = await newEmptyDatabase(name, dataDir);
    before = testSettings(dataDir, empty.env);
    after = { ...before, encryptionKey: newKey() };
    both = { ...after, encryptionKeyPrevious: before.encryptionKey };
  });
  afterEach(async () => {
    await empty.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  const withPlane = async <T>(settings: Settings, work: (plane: Plane) => Promise<T>): Promise<T> => {
    const plane = await startPlaneWith(settings);
    try {
      return await work(plane);
    } finally {
      await plane.close();
    }
  };
  const withDatabase = async <T>(work: (database: Database) => Promise<T>): Promise<T> => {
    const database = await openDatabase(before, { entities, migrations }, newMemoryLog());
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  };
  const replace = (keys: Settings): Promise<Replacement> => withDatabase((database) => replaceEncryptionKey(database, keys));
  const starts = (settings: Settings) => startControlPlane(settings, { log: newMemoryLog() }).then((plane) => plane.close());
  /** Lines of the start about the replacement. */
  const linesOf = (plane: Plane) => plane.log.lines.filter(({ message }) => message.includes('ENCRYPTION_KEY_PREVIOUS'));

  it('a database passes to a new key: what was stored is read, API keys are valid, and the audit chain is intact', async () => {
    const { id } = await withPlane(before, async (plane) => {
      const made = await plane.ask('POST', '/integrations', { body: integration('openai', 'sk-planted-before') });
      return made.body;
    });
    expect(id).toEqual(expect.any(String));
    await withPlane(both, async (plane) => {
      expect(linesOf(plane)).toMatchObject([{ level: 'warn', message: expect.stringContaining('npm run encryption-key') }]);
    });
    expect(await replace(both)).toEqual({ dataKeys: 1, organisations: 1, isRepeated: false });
    expect(await replace(both)).toEqual({ dataKeys: 0, organisations: 0, isRepeated: true });
    await withPlane(both, async (plane) => {
      expect(linesOf(plane)).toMatchObject([{ level: 'info', message: expect.stringContaining('Remove the setting') }]);
    });
    await expect(starts(before)).rejects.toThrow(/^ENCRYPTION_KEY: cannot decrypt the data/);
    await withPlane(after, async (plane) => {
      expect(await secretsOf(plane, 'openai')).toEqual([{ api_key: 'sk-planted-before' }]);
      expect((await plane.ask('POST', '/integrations', { body: integration('later', 'sk-planted-after') })).status).toBe(200);
      expect(await secretsOf(plane, 'later')).toEqual([{ api_key: 'sk-planted-after' }]);
      // A new data key, which an earlier copy of the database does not hold, seals what is stored later.
      const rows = await plane.control.services.database
        .em()
        .execute<{ slug: string; secrets: string }[]>('select slug, secrets from integrations where secrets is not null');
      expect(Object.fromEntries(rows.map(({ slug, secrets }) => [slug, secrets.split(':')[0]]))).toEqual({
        openai: '1',
        later: '2',
      });
      const made = await plane.newKey(['logs.view']);
      expect((await plane.ask('GET', '/api-keys', { key: made })).status).not.toBe(401);
      const em = plane.control.services.database.em();
      expect(await em.find(auditEntries, { resourceType: 'encryption-key' })).toMatchObject([
        { action: 'create', userType: 'system' },
      ]);
      expect((await verifyChain(em, plane.control.services.auditKey, plane.organisationId, [])).error).toBeNull();
    });
  });

  it('a replaced key is replaced again, back to the first one too', async () => {
    await withPlane(before, (plane) => plane.ask('POST', '/integrations', { body: integration('openai', 'sk-planted') }));
    await replace(both);
    await replace({ ...before, encryptionKeyPrevious: after.encryptionKey });
    await withPlane(before, async (plane) => {
      expect(await secretsOf(plane, 'openai')).toEqual([{ api_key: 'sk-planted' }]);
      expect(
        (await verifyChain(plane.control.services.database.em(), plane.control.services.auditKey, plane.organisationId, []))
          .error,
      ).toBeNull();
    });
  });

  it('without the earlier key, or with a wrong one, nothing changes', async () => {
    await starts(before);
    const rows = () => withDatabase((database) => database.em().execute('select wrapped, sealed from data_keys, key_checks'));
    const unchanged = await rows();
    for (const keys of [after, { ...after, encryptionKeyPrevious: newKey() }]) {
      await expect(replace(keys)).rejects.toThrow(/^ENCRYPTION_KEY: cannot decrypt/);
      await expect(starts(keys)).rejects.toThrow(StartError);
    }
    expect(await rows()).toEqual(unchanged);
    await starts(before);
  });

  it('a row that still needs the earlier key is named at the start, and sealed by another run', async () => {
    const other = await withPlane(before, async (plane) => {
      const tenant = await plane.newTenant();
      return tenant.organisationId;
    });
    const rows = await withDatabase(async (database) => {
      const select = 'select id, wrapped from data_keys where organisation_id = ?';
      const [old] = await database.em().execute<{ id: string; wrapped: string }[]>(select, [other]);
      await replaceEncryptionKey(database, both);
      // As a control plane of the previous version does that adds an organisation meanwhile.
      await database.em().execute('update data_keys set wrapped = ? where id = ?', [old?.wrapped, old?.id]);
      return old;
    });
    await expect(starts(after)).rejects.toThrow(
      `ENCRYPTION_KEY: cannot decrypt 1 data key (table data_keys), which another key has sealed: ${rows?.id} (organisation ${other})`,
    );
    await withPlane(both, async (plane) => expect(linesOf(plane)).toMatchObject([{ level: 'warn' }]));
    expect(await replace(both)).toEqual({ dataKeys: 1, organisations: 1, isRepeated: true });
    await starts(after);
  });

  function integration(slug: string, key: string) {
    return { name: slug, slug, ai_provider_id: 'openai', key, create_default_provider: false };
  }

  async function secretsOf(plane: Plane, slug: string): Promise<unknown[]> {
    const { database } = plane.control.services;
    // A vault without a cache, as in a process that has just started.
    const vault = createVault(plane.settings);
    const rows = await database
      .em()
      .execute<{ id: string; secrets: string }[]>('select id, secrets from integrations where slug = ?', [slug]);
    return Promise.all(
      rows.map(async ({ id, secrets }) => {
        const context: SealContext = {
          ...{ organisationId: plane.organisationId, table: 'integrations', column: 'secrets', rowId: id },
        };
        return JSON.parse(await vault.open(database.em(), context, secrets));
      }),
    );
  }

  it.skipIf(name === 'PGlite')('two first starts at once with the keys in different order derive the same keys', async () => {
    const swapped = { ...before, encryptionKeyPrevious: after.encryptionKey };
    const planes = await Promise.all([both, swapped].map((settings) => startControlPlane(settings, { log: newMemoryLog() })));
    try {
      const [one, other] = planes.map(({ services: { apiKeyPepper, auditKey } }) => ({ apiKeyPepper, auditKey }));
      expect(one).toEqual(other);
    } finally {
      for (const plane of planes) await plane.close();
    }
  });

  it.skipIf(name === 'PGlite')(
    'an interrupted run leaves rows that processes with both keys read, and another run continues',
    async () => {
      const plane = await startPlaneWith(before);
      const tenants = [plane.organisationId, (await plane.newTenant()).organisationId, (await plane.newTenant()).organisationId];
      const contextOf = (organisationId: string): SealContext => ({ organisationId, table: 't', column: 'c', rowId: 'r' });
      const sealed = await withDatabase((database) =>
        Promise.all(tenants.map((id) => createVault(before).seal(database.em(), contextOf(id), `secret of ${id}`))),
      );
      const opened = (keys: Settings) =>
        withDatabase(async (database) => {
          const vault = createVault(keys);
          const plain: string[] = [];
          // One after the other: the database is closed after the first error, and would wait for the others.
          for (const [index, id] of tenants.entries())
            plain.push(await vault.open(database.em(), contextOf(id), sealed[index] ?? ''));
          return plain;
        });
      const expected = tenants.map((id) => `secret of ${id}`);
      await withDatabase(async (database) => {
        await database.em().transactional(async (tx) => {
          // The data keys are sealed in the order of their creation, and the run waits for this row until its time is over.
          await tx.execute('select from data_keys where organisation_id = ? for update', [tenants[1] ?? '']);
          await expect(replace(both)).rejects.toThrow();
        });
      });
      const kept = await withDatabase((database) => readKeptKeys(database.em(), both));
      expect(kept).toEqual(await withDatabase((database) => readKeptKeys(database.em(), before)));
      expect(await opened(both)).toEqual(expected);
      const refused = await opened(after).catch((thrown: Error) => thrown);
      expect(refused).toMatchObject({ message: expect.stringContaining('ENCRYPTION_KEY: cannot decrypt the data key') });
      expect(toAdminError(refused)).toMatchObject({ status: 503, message: expect.stringContaining('ENCRYPTION_KEY') });
      await expect(starts(after)).rejects.toThrow(/^ENCRYPTION_KEY: cannot decrypt/);
      await expect(starts(before)).rejects.toThrow(`(organisation ${tenants[0]})`);
      // A run with a third key cannot continue, and the error names the keys of the run that can.
      await expect(replace({ ...both, encryptionKey: newKey() })).rejects.toThrow(
        'Set ENCRYPTION_KEY to the key of that run, and ENCRYPTION_KEY_PREVIOUS to the key of the database',
      );
      expect(await replace(both)).toEqual({ dataKeys: 2, organisations: 2, isRepeated: false });
      expect(await opened(after)).toEqual(expected);
      expect(await opened(both)).toEqual(expected);
      await starts(after);
      await plane.close();
    },
  );

  it.skipIf(name === 'PGlite')('without the new key, a running control plane replies 503 that names the setting', async () => {
    const plane = await startPlaneWith(before);
    const body = { filters: {}, requested_data: ['id'] };
    const { id } = (await plane.ask('POST', '/logs/exports', { body })).body;
    const finish = "update log_exports set status = 'success', expires_at = now() + interval '1 day' where id = ?";
    await plane.control.services.database.em().execute(finish, [id]);
    await replace(both);
    expect(await plane.ask('GET', `/logs/exports/${id}/download`)).toMatchObject({
      status: 503,
      body: { data: { errorCode: 'AB10', message: expect.stringContaining('does not have the ENCRYPTION_KEY of the database') } },
    });
    const refused = await plane.newTenant().catch((thrown: Error) => thrown);
    expect(toAdminError(refused)).toMatchObject({ code: 'AB10', status: 503 });
    await plane.close();
  });

  it.skipIf(name === 'PGlite')(
    'organisations and credentials that are added during the run are readable afterwards',
    async () => {
      await starts(before);
      const plane = await startPlaneWith(both);
      let isOver = false;
      const slugs: string[] = [];
      const tenants: string[] = [];
      const write = async (): Promise<void> => {
        while (!isOver || slugs.length < 5) {
          const slug = `during-${slugs.length}`;
          expect((await plane.ask('POST', '/integrations', { body: integration(slug, `sk-planted-${slug}`) })).status).toBe(200);
          slugs.push(slug);
          tenants.push((await plane.newTenant()).organisationId);
        }
      };
      const writing = write();
      await plane.newTenant();
      const runs = await Promise.all([replace(both), replace(both)]);
      isOver = true;
      await writing;
      expect(runs.map(({ dataKeys }) => dataKeys).reduce((sum, count) => sum + count)).toBeGreaterThan(1);
      await plane.close();
      await withPlane(after, async (later) => {
        for (const slug of slugs) expect(await secretsOf(later, slug)).toEqual([{ api_key: `sk-planted-${slug}` }]);
        const em = later.control.services.database.em();
        for (const id of tenants) expect((await verifyChain(em, later.control.services.auditKey, id, [])).error).toBeNull();
      });
    },
  );
});

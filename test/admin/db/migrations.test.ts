import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MikroORM as Orm } from '@mikro-orm/core';
import { Migrator } from '@mikro-orm/migrations';
import { MikroORM as EmbeddedOrm } from '@mikro-orm/pglite';
import { MikroORM as ServerOrm } from '@mikro-orm/postgresql';
import { describe, expect, it } from 'vitest';
import { migrationLockWaitMs, patiently } from '../../../admin/db/run-migrations.ts';
import { migrations } from '../../../admin/tables.ts';
import { type DatabaseName, newTestDatabase, ruleDatabases } from '../support/test-database.ts';

/**
 * A new version migrates the tables while the previous version runs. Every migration must keep what older versions read and write.
 */
describe.each(ruleDatabases)('migrations with an older version running, on %s', (database) => {
  it('add tables and columns, and never remove, rename, retype or require what older versions use', async () => {
    await onDatabase(database, async (open) => {
      const orm = await open(true);
      for (const [index, migration] of migrations.entries()) {
        const before = await columnsOf(orm);
        await orm.migrator.up(migration.name);
        const after = await columnsOf(orm);
        for (const [name, column] of before) {
          const now = after.get(name);
          // A default may be added.
          const expected = { ...column, demanded: column.demanded && now?.demanded === true };
          expect(now, `${name} after ${migration.name}`).toEqual(expected);
        }
        if (index === 0) continue;
        const oldTables = new Set([...before.values()].map((column) => column.table));
        const demanded = [...after].filter(
          ([name, column]) => !before.has(name) && oldTables.has(column.table) && column.demanded,
        );
        expect(
          demanded.map(([name]) => name),
          `new columns that old inserts leave out, in ${migration.name}`,
        ).toEqual([]);
      }
    });
  });

  it('do not block the statements of the first version', async () => {
    await onDatabase(database, async (open) => {
      const [migrating, serving] = [await open(true), await open(false)];
      await migrating.migrator.up(migrations[0]?.name);
      const tenant = await firstVersion.begin(serving);
      let running = true;
      let rounds = 0;
      const workload = (async () => {
        while (running) {
          await firstVersion.round(serving, tenant);
          rounds++;
          // PGlite runs in this thread, so the migration needs turns of the event loop.
          await nextTurn();
        }
      })();
      for (const migration of migrations.slice(1)) {
        const seen = rounds;
        await patiently(() => migrating.migrator.up(migration.name));
        // At least one round began after this migration, so two migrations cannot pass as one.
        while (rounds < seen + 2) await Promise.race([workload, nextTurn()]);
      }
      running = false;
      await workload;
      expect(rounds).toBeGreaterThanOrEqual(2 * (migrations.length - 1));
    });
  });
});

describe.each(ruleDatabases)('partitions of request records, on %s', (database) => {
  it('take over the rows of the table before them, and recognise these when they are sent again', async () => {
    await onDatabase(database, async (open) => {
      const orm = await open(true);
      const at = migrations.findIndex(({ name }) => name.endsWith('records-by-day'));
      for (const { name } of migrations.slice(0, at)) await orm.migrator.up(name);
      const ages = ['400 days', '1 second', '-5 days'];
      const ids = ages.map(() => randomUUID());
      const insert = (index: number) =>
        sql(
          orm,
          `insert into request_records (id, organisation_id, workspace_id, trace_id, created_at, status, outcome, config_slug, record)
           values (?, ?, ?, ?, date_trunc('hour', now()) - ?::interval, 200, 'success', 'pc-a', '{"a": 1}')
           on conflict do nothing returning id`,
          [ids[index], ids[0], ids[0], ids[index], ages[index]],
        );
      for (const index of ages.keys()) expect(await insert(index)).toHaveLength(1);
      await orm.migrator.up(migrations[at]?.name);
      for (const index of ages.keys()) expect(await insert(index)).toHaveLength(0);
      const rows = await sql(orm, 'select id, tableoid::regclass::text as at from request_records order by created_at');
      expect(rows).toEqual([
        { id: ids[0], at: 'request_records_before' },
        { id: ids[1], at: 'request_records_before' },
        { id: ids[2], at: 'request_records_rest' },
      ]);
    });
  });
});

describe.each(ruleDatabases)('addresses with an internationalised domain, on %s', (database) => {
  it('get their domain in ASCII, unless another user of the organisation has that address', async () => {
    await onDatabase(database, async (open) => {
      const orm = await open(true);
      const last = migrations.findIndex(({ name }) => name.endsWith('plain-email-domains'));
      await orm.migrator.up({ to: migrations[last - 1]?.name ?? '' });
      const [one, other] = [randomUUID(), randomUUID()];
      for (const id of [one, other])
        await sql(orm, "insert into organisations (id, name, created_at, last_updated_at) values (?, 'o', now(), now())", [id]);
      const add = (organisation: string, email: string) =>
        sql(
          orm,
          "insert into users (id, organisation_id, email, role, created_at, last_updated_at) values (?, ?, ?, 'member', now(), now())",
          [randomUUID(), organisation, email],
        );
      const [wide, plain] = ["o'ada@b\u00fccher.example", "o'ada@xn--bcher-kva.example"];
      await add(one, wide);
      await add(other, wide);
      await add(other, plain);
      await add(other, 'j\u00f6rg@x.example');
      await orm.migrator.up(migrations[last]?.name);
      const emails = await sql(orm, 'select email from users order by organisation_id = ?, email', [other]);
      expect(emails.map(({ email }: { email: string }) => email).sort()).toEqual(
        [plain, plain, wide, 'j\u00f6rg@x.example'].sort(),
      );
    });
  });
});

interface Column {
  readonly table: string;
  readonly type: string;
  readonly nullable: string;
  /** True if an insert must contain the column. */
  readonly demanded: boolean;
}

async function columnsOf(orm: Orm): Promise<Map<string, Column>> {
  const rows: { table_name: string; column_name: string; data_type: string; is_nullable: string; column_default: unknown }[] =
    await sql(
      orm,
      `select table_name, column_name, data_type, is_nullable, column_default from information_schema.columns
      where table_schema = 'public' and table_name <> 'migrations'`,
    );
  return new Map(
    rows.map((row) => [
      `${row.table_name}.${row.column_name}`,
      {
        table: row.table_name,
        type: row.data_type,
        nullable: row.is_nullable,
        demanded: row.is_nullable === 'NO' && row.column_default === null,
      },
    ]),
  );
}

interface Tenant {
  readonly organisation: string;
  readonly workspace: string;
  readonly config: string;
}

/** The statements of the first version of the control plane, with the columns of that version and no others. */
const firstVersion = {
  async begin(orm: Orm): Promise<Tenant> {
    const [organisation, workspace, config] = [randomUUID(), randomUUID(), randomUUID()];
    await sql(orm, `insert into organisations (id, name, created_at, last_updated_at) values (?, 'o', now(), now())`, [
      organisation,
    ]);
    await sql(
      orm,
      `insert into workspaces (id, organisation_id, slug, name, is_default, metadata, status, created_at, last_updated_at)
       values (?, ?, 'w', 'w', true, '{}', 'active', now(), now())`,
      [workspace, organisation],
    );
    await sql(
      orm,
      `insert into configs (id, organisation_id, workspace_id, slug, name, is_default, status, version_id, created_at, last_updated_at)
       values (?, ?, ?, 'pc-first', 'c', false, 'active', ?, now(), now())`,
      [config, organisation, workspace, randomUUID()],
    );
    return { organisation, workspace, config };
  },

  async round(orm: Orm, { organisation, workspace, config }: Tenant): Promise<void> {
    const [key, integration, provider, name] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    await sql(
      orm,
      `insert into api_keys (id, organisation_id, workspace_id, type, name, public_id, digest, last_characters, scopes,
         default_metadata, allow_config_override, creation_mode, created_at, last_updated_at)
       values (?, ?, ?, 'workspace-service', 'k', ?, 'digest', 'abcd', '[]', '{}', true, 'api', now(), now())`,
      [key, organisation, workspace, name],
    );
    await sql(orm, `update api_keys set previous_digest = digest, digest = 'new', last_updated_at = now() where id = ?`, [key]);
    await sql(
      orm,
      `insert into integrations (id, organisation_id, slug, name, ai_provider_id, configurations, secret_hints,
         global_workspace_access, status, created_at, last_updated_at)
       values (?, ?, ?, 'i', 'openai', '{}', '{}', true, 'active', now(), now())`,
      [integration, organisation, name],
    );
    await sql(
      orm,
      `insert into integration_workspaces (integration_id, workspace_id, organisation_id, enabled, created_at, last_updated_at)
       values (?, ?, ?, true, now(), now())`,
      [integration, workspace, organisation],
    );
    await sql(
      orm,
      `insert into providers (id, organisation_id, workspace_id, integration_id, slug, name, created_at, last_updated_at)
       values (?, ?, ?, ?, ?, 'p', now(), now())`,
      [provider, organisation, workspace, integration, name],
    );
    await sql(
      orm,
      `insert into config_versions (id, organisation_id, workspace_id, config_id, number, config, created_at)
       select ?, ?, ?, ?, coalesce(max(number), 0) + 1, '{}', now() from config_versions where config_id = ?`,
      [randomUUID(), organisation, workspace, config, config],
    );
    await sql(orm, `update configs set name = ?, last_updated_at = now() where id = ?`, [name, config]);
    await sql(
      orm,
      `insert into audit_entries (id, organisation_id, created_at, method, uri, request_id, query_params, user_type,
         response_status_code, resource_type, action, client_ip)
       values (?, ?, now(), 'PUT', '/v1/configs', ?, '{}', 'api_key', 200, 'configs', 'update', '::1')`,
      [randomUUID(), organisation, name],
    );
    await sql(
      orm,
      `with next as (update change_counter set revision = revision + 1 returning revision)
       insert into outbox (revision, organisation_id, kind, document_id, op, created_at)
       select revision, ?, 'config', 'pc-first', 'upsert', now() from next`,
      [organisation],
    );
    await sql(
      orm,
      `insert into request_records (id, organisation_id, workspace_id, trace_id, created_at, status, outcome, record)
       values (?, ?, ?, ?, now(), 200, 'success', '{}') on conflict do nothing`,
      [randomUUID(), organisation, workspace, name],
    );
    const found = await sql(
      orm,
      `select k.scopes, c.name, p.slug, i.configurations from api_keys k, configs c, providers p join integrations i on i.id = p.integration_id
       where k.public_id = ? and c.slug = 'pc-first' and c.workspace_id = k.workspace_id and p.slug = ?`,
      [name, name],
    );
    expect(found).toHaveLength(1);
    await sql(orm, `delete from providers where id = ?`, [provider]);
    await sql(orm, `delete from api_keys where id = ?`, [key]);
  },
};

// biome-ignore lint/suspicious/noExplicitAny: rows of any query
function sql(orm: Orm, text: string, values: readonly unknown[] = []): Promise<any[]> {
  // biome-ignore lint/suspicious/noExplicitAny: both drivers have it, but their common type does not declare it
  return (orm.em.fork() as any).execute(text, values);
}

/** An empty database. `open` returns a connection of its own; PGlite has one connection, which is shared. */
async function onDatabase(
  database: DatabaseName,
  work: (open: (migrates: boolean) => Promise<Orm>) => Promise<void>,
): Promise<void> {
  const opened: Orm[] = [];
  const options = {
    entities: [],
    discovery: { warnWhenNoEntities: false },
    extensions: [Migrator],
    migrations: { migrationsList: [...migrations], allOrNothing: false, snapshot: false, silent: true, tableName: 'migrations' },
  };
  const server = database === 'PostgreSQL' ? await newTestDatabase() : null;
  try {
    await work(async (migrates) => {
      if (!server && opened[0]) return opened[0];
      const orm = (server
        ? await ServerOrm.init({
            ...options,
            clientUrl: server.url,
            driverOptions: migrates ? { lock_timeout: migrationLockWaitMs } : {},
          })
        : await EmbeddedOrm.init({ ...options, dbName: 'memory://' })) as unknown as Orm;
      opened.push(orm);
      return orm;
    });
  } finally {
    for (const orm of opened) await orm.close(true);
    await server?.drop();
  }
}

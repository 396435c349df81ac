import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../admin/audit/entity.ts';
import { newId } from '../../../admin/db/new-id.ts';
import { defineRoute } from '../../../admin/http/route.ts';
import { serveRoute } from '../../../admin/http/serve-route.ts';
import { configs } from '../../../admin/resources/configs/entity.ts';
import { workspaces } from '../../../admin/resources/workspaces/entity.ts';
import { type Plane, startPlane, type Tenant } from '../support/plane.ts';
import { databases, newLogin, newTestDatabase } from '../support/test-database.ts';

/** Ways to open the database. The rights of the login decide how the policies are applied. */
const ways = [
  { name: 'PGlite', start: () => startPlane('PGlite'), forced: false },
  ...(databases.includes('PostgreSQL')
    ? [
        { name: 'PostgreSQL as superuser', start: () => startPlane('PostgreSQL'), forced: false },
        { name: 'PostgreSQL as a login that may make roles', start: () => startAs('createrole'), forced: false },
        { name: 'PostgreSQL as a login that may not', start: () => startAs('nocreaterole'), forced: true },
      ]
    : []),
];

async function startAs(right: 'createrole' | 'nocreaterole'): Promise<Plane> {
  const login = await newLogin(`svc_login_${randomBytes(4).toString('hex')}`, right);
  const database = await newTestDatabase(login.name);
  const url = new URL(database.url);
  url.username = login.name;
  const plane = await startPlane('PGlite', { DATABASE_URL: url.href });
  return {
    ...plane,
    async close() {
      await plane.close();
      await database.drop();
      await login.drop();
    },
  };
}

const toolsMissing = spawnSync('pg_dump', ['--version']).error !== undefined;

describe.each(ways)('row-level security, on $name', ({ name, start, forced }) => {
  let plane: Plane;
  let other: Tenant;
  beforeAll(async () => {
    plane = await start();
    other = await plane.newTenant();
    const mine = await plane.ask('POST', '/configs', { body: { name: 'Mine', slug: 'mine', config: { provider: '@mock' } } });
    const body = { name: 'Theirs', slug: 'theirs', config: { provider: '@mock' } };
    const theirs = await plane.ask('POST', '/configs', { key: other.adminKey, body });
    expect([mine.status, theirs.status]).toEqual([200, 200]);
  });
  afterAll(() => plane?.close());

  const own = () => plane.control.services.database.emOf(plane.organisationId);
  const system = () => plane.control.services.database.em();

  it('is on for every table with a tenant', async () => {
    const tables = await system().execute<{ name: string; enabled: boolean; forced: boolean; policies: number }[]>(
      `select c.relname as name, c.relrowsecurity as enabled, c.relforcerowsecurity as forced,
         (select count(*)::int from pg_policies p where p.schemaname = 'public' and p.tablename = c.relname) as policies
       from pg_class c join pg_attribute a on a.attrelid = c.oid
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
         and (a.attname = 'organisation_id' or (c.relname = 'organisations' and a.attname = 'id'))`,
    );
    expect(tables.length).toBeGreaterThan(10);
    for (const table of tables) expect(table).toEqual({ name: table.name, enabled: true, forced, policies: 1 });
  });

  it.skipIf(name === 'PGlite' || toolsMissing)('lets the pg_dump of the guide read the rows of all organisations', () => {
    const guide = readFileSync(join(import.meta.dirname, '../../../docs/guides/backup-and-upgrade.md'), 'utf8');
    const options = /^pg_dump (?<options>.*) --format/m.exec(guide)?.groups?.options?.split(' ') ?? [];
    const all = [...options, '--data-only', '--table=configs', plane.settings.databaseUrl as string];
    const dump = execFileSync('pg_dump', all, { encoding: 'utf8' });
    expect([dump.includes('\tmine\t'), dump.includes('\ttheirs\t')]).toEqual([true, true]);
  });

  it('gives requests of tenants no access to partitions, which have no policies of their own', async () => {
    const partitions = await system().execute<{ name: string; readable: boolean }[]>(
      `select c.relname as name, has_table_privilege('svc_tenant', c.oid, 'select, insert, update, delete') as readable
       from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relispartition
         and exists (select from pg_roles where rolname = 'svc_tenant')`,
    );
    expect(partitions.filter(({ readable }) => readable)).toEqual([]);
  });

  it('limits a query without a tenant to the rows of its own organisation', async () => {
    for (const table of [
      'organisations',
      'workspaces',
      'configs',
      'config_versions',
      'api_keys',
      'data_keys',
      'audit_entries',
      'outbox',
    ]) {
      const column = table === 'organisations' ? 'id' : 'organisation_id';
      const seen = await own().execute<{ tenant: string }[]>(`select ${column} as tenant from ${table}`);
      expect(new Set(seen.map((row) => row.tenant)), table).toEqual(new Set([plane.organisationId]));
      const all = await system().execute<{ tenant: string }[]>(`select ${column} as tenant from ${table}`);
      expect(new Set(all.map((row) => row.tenant)), table).toEqual(new Set([plane.organisationId, other.organisationId]));
    }
  });

  it('applies to finds, counts, query builders and transactions', async () => {
    expect((await own().find(configs, {})).map((row) => row.slug)).toEqual(['mine']);
    expect(await own().count(configs)).toBe(1);
    expect(await own().findOne(configs, { slug: 'theirs' })).toBeNull();
    expect(await own().createQueryBuilder(configs).select('*').getResultList()).toHaveLength(1);
    expect(await own().transactional((tx) => tx.count(workspaces))).toBe(1);
    expect(await own().transactional((tx) => tx.transactional((inner) => inner.count(workspaces)))).toBe(1);
  });

  it('protects rows of others from changes and deletions without a tenant', async () => {
    await own().nativeUpdate(configs, { slug: { $ne: '' } }, { name: 'Overwritten' });
    expect(await system().count(configs, { name: 'Theirs' })).toBe(1);
    expect(await own().nativeDelete(configs, { slug: 'theirs' })).toBe(0);
    expect(await system().count(configs, { slug: 'theirs' })).toBe(1);
  });

  it('rejects rows for another organisation', async () => {
    const now = new Date();
    const row = { id: newId(), organisationId: other.organisationId, slug: 'planted', name: 'Planted', isDefault: false };
    const planted = { ...row, metadata: {}, status: 'active' as const, createdAt: now, lastUpdatedAt: now };
    await expect(own().insert(workspaces, planted as never)).rejects.toThrow(/row-level security/);
    await expect(own().nativeUpdate(configs, { slug: 'mine' }, { organisationId: other.organisationId })).rejects.toThrow(
      /row-level security/,
    );
  });

  it('returns nothing for a non-existent organisation', async () => {
    const nobody = plane.control.services.database.emOf(newId());
    expect(await nobody.count(configs)).toBe(0);
    expect(await nobody.count(auditEntries)).toBe(0);
  });

  it('leaves no tenant on the connection', async () => {
    await own().count(configs);
    await own().transactional((tx) => tx.count(configs));
    expect(await system().count(configs)).toBe(2);
  });

  it('limits a route whose query omits the tenant to its own rows', async () => {
    const broken = defineRoute({
      method: 'GET',
      path: '/broken/:slug',
      scopes: ['configs.read'],
      tenant: 'either',
      resource: 'configs',
      action: 'read',
      summary: 'Forgets its tenant',
      reply: v.strictObject({ found: v.array(v.string()) }),
      query: v.strictObject({}),
      body: null,
      async handle(call) {
        const rows = await call.em.find(configs, { slug: call.params.slug ?? '' });
        return { found: rows.map((row) => row.slug) };
      },
    });
    const app = new Hono().get('/v1/broken/:slug', serveRoute(broken, plane.control.services));
    const server = createAdaptorServer({ fetch: app.fetch }) as Server;
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/broken`;
      const ask = async (slug: string, key: string) =>
        (await fetch(`${base}/${slug}`, { headers: { 'x-svc-api-key': key } })).json();
      expect(await ask('theirs', plane.adminKey)).toEqual({ found: [] });
      expect(await ask('theirs', other.adminKey)).toEqual({ found: ['theirs'] });
    } finally {
      server.close();
    }
  });

  it('forbids changes to audit entries, requests and the system', async () => {
    for (const em of [own, system]) {
      for (const sql of ["update audit_entries set action = 'x'", 'delete from audit_entries', 'truncate audit_entries']) {
        await expect(em().execute(sql), sql).rejects.toThrow(/only ever added|permission denied/);
      }
    }
  });
});

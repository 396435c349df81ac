import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MikroORM } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Plane, startPlaneWith, testSettings } from '../support/plane.ts';
import { newLogin, newTestDatabase, postgresMissing, type TestDatabase } from '../support/test-database.ts';

if (postgresMissing) console.warn(`skipped: ${postgresMissing}`);

describe.skipIf(postgresMissing !== null)('a database that rejects its role while the service runs', () => {
  let role: { name: string; drop(): Promise<void> };
  let database: TestDatabase;
  let plane: Plane;
  let dataDir: string;
  let server: MikroORM;
  beforeAll(async () => {
    role = await newLogin(`svc_role_${randomBytes(6).toString('hex')}`, 'nocreaterole');
    database = await newTestDatabase(role.name);
    dataDir = await mkdtemp(join(tmpdir(), 'svc-admin-'));
    const url = Object.assign(new URL(database.url), { username: role.name, password: '' });
    plane = await startPlaneWith(testSettings(dataDir, { DATABASE_URL: url.href }));
    const clientUrl = process.env.TEST_DATABASE_URL ?? '';
    server = await MikroORM.init({ clientUrl, entities: [], discovery: { warnWhenNoEntities: false } });
  });
  afterAll(async () => {
    await plane?.close();
    await server?.close(true);
    await database?.drop();
    await role?.drop();
    if (dataDir) await rm(dataDir, { recursive: true, force: true });
  });

  const run = (sql: string) => server.em.getConnection().execute(sql);
  const disconnect = () => run(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role.name}'`);

  it.each([
    ['the role may not log in (28000)', () => `alter role ${role.name} nologin`, () => `alter role ${role.name} login`],
    [
      'the database has another name (3D000)',
      () => `alter database ${database.name} rename to ${database.name}_away`,
      () => `alter database ${database.name}_away rename to ${database.name}`,
    ],
  ])('causes 503 with retry-after until it accepts the role again: %s', async (_, reject, accept) => {
    // A database with connections cannot be renamed, and the plane connects again at once.
    await vi.waitFor(async () => {
      await disconnect();
      await run(reject());
    }, 10_000);
    await disconnect();
    try {
      for (let count = 0; count < 8; count++) {
        const reply = await plane.ask('GET', '/configs');
        expect([reply.status, reply.body.data?.errorCode, reply.headers.get('retry-after')]).toEqual([503, 'AB10', '1']);
      }
      expect((await fetch(`${plane.url}/ready`)).status).toBe(503);
    } finally {
      await run(accept());
    }
    await vi.waitFor(async () => expect((await plane.ask('GET', '/configs')).status).toBe(200), 10_000);
  });
});

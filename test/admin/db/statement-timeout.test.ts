import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, type EntityManager, openDatabase } from '../../../admin/db/open-database.ts';
import { isDatabaseAway } from '../../../admin/is-database-away.ts';
import { entities, migrations } from '../../../admin/tables.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { until } from '../../support/until.ts';
import { startProxy } from '../support/cuttable-proxy.ts';
import { newReadyDatabase, postgresMissing } from '../support/test-database.ts';

const organisationId = '00000000-0000-4000-8000-000000000001';

describe.skipIf(postgresMissing)(`the time limit of queries${postgresMissing ? ` (${postgresMissing})` : ''}`, () => {
  let server: Awaited<ReturnType<typeof newReadyDatabase>>;
  let database: Database;
  beforeAll(async () => {
    server = await newReadyDatabase();
    const settings = { databaseUrl: server.url, dbPoolSize: 3, dataDir: '' };
    database = await openDatabase(settings, { entities, migrations }, newMemoryLog(), { timeoutMs: 300 });
  });
  afterAll(async () => {
    await database?.close();
    await server?.drop();
  });

  const running = async () =>
    (await database.em().execute("select pid from pg_stat_activity where query like '%pg_sleep(60)' and state = 'active'"))
      .length;

  it.each([
    ['alone', () => database.emOf(organisationId).execute('select pg_sleep(60)')],
    ['in a transaction', () => database.emOf(organisationId).transactional((tx) => tx.execute('select pg_sleep(60)'))],
    ['with values', () => database.emOf(organisationId).execute('select ?::text, pg_sleep(60)', ['a'])],
  ])('ends a statement of a tenant, %s, on the server too', async (_how, query) => {
    const asked = query().catch((error: unknown) => error);
    await until(async () => (await running()) > 0);
    expect(isDatabaseAway(await asked)).toBe(true);
    await until(async () => (await running()) === 0);
  });

  it('applies to transactions whose connection is lost: the server ends them, and the next that waits for their lock too', async () => {
    const { hostname, port } = new URL(server.url);
    const proxy = await startProxy(hostname, Number(port || 5432));
    const url = Object.assign(new URL(server.url), { hostname: '127.0.0.1', port: String(proxy.port) });
    const settings = { databaseUrl: url.href, dbPoolSize: 4, dataDir: '' };
    const behindProxy = await openDatabase(settings, { entities, migrations }, newMemoryLog(), { timeoutMs: 300 });
    const lock = 'select revision from change_counter for update';
    const sessions = async (state: string) =>
      (await database.em().execute(`select from pg_stat_activity where datname = current_database() and ${state}`)).length;
    const asked: Promise<unknown>[] = [];
    const change = (then: (tx: EntityManager) => Promise<unknown>) =>
      behindProxy
        .em()
        .transactional(async (tx) => {
          await tx.execute(lock);
          await then(tx);
        })
        .catch((error: unknown) => error);
    try {
      proxy.loseWhen("select 'lost'", lock);
      asked.push(
        change(async (tx) => {
          asked.push(change(async () => {}));
          await until(async () => (await sessions("wait_event_type = 'Lock'")) === 1);
          await tx.execute("select 'lost'");
        }),
      );
      expect(isDatabaseAway(await asked[0])).toBe(true);
      expect(isDatabaseAway(await asked[1])).toBe(true);
      // Its wait has ended before it could get the lock.
      await until(async () => (await sessions("state = 'idle in transaction (aborted)'")) === 1);
      await until(async () => (await sessions("state = 'idle in transaction'")) === 0);
      await proxy.restore();
      // A connection that was idle when it was lost fails once.
      await until(async () => (await change(async () => {})) === undefined);
    } finally {
      await Promise.all(asked);
      await behindProxy.close();
      await proxy.close();
    }
  });

  it('closes connections that were lost while they were idle, after the first query on one of them', async () => {
    const { hostname, port } = new URL(server.url);
    const proxy = await startProxy(hostname, Number(port || 5432));
    const url = Object.assign(new URL(server.url), { hostname: '127.0.0.1', port: String(proxy.port) });
    const settings = { databaseUrl: url.href, dbPoolSize: 4, dataDir: '' };
    const behindProxy = await openDatabase(settings, { entities, migrations }, newMemoryLog(), { timeoutMs: 300 });
    const fourTimes = () => Promise.all(Array.from({ length: 4 }, () => behindProxy.em().execute('select 1 as one')));
    try {
      // Each needs a connection of its own, which is idle afterwards.
      await fourTimes();
      proxy.loseWhen("select 'lost'", "select 'marked'");
      const lost = behindProxy.em().transactional(async (tx) => {
        await tx.execute("select 'marked'");
        await tx.execute("select 'lost'");
      });
      expect(isDatabaseAway(await lost.catch((error: unknown) => error))).toBe(true);
      await proxy.restore();
      expect(await fourTimes()).toEqual(Array.from({ length: 4 }, () => [{ one: 1 }]));
    } finally {
      await behindProxy.close();
      await proxy.close();
    }
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { sampleRecord } from '../../support/samples/sample-record.ts';
import { within } from '../../support/until.ts';
import { type CuttableProxy, startProxy } from '../support/cuttable-proxy.ts';
import { type Plane, type Reply, startPlaneWith, testSettings } from '../support/plane.ts';
import { newReadyDatabase, postgresMissing, type TestDatabase } from '../support/test-database.ts';

if (postgresMissing) console.warn(`skipped: ${postgresMissing}`);

describe.skipIf(postgresMissing !== null)('an unavailable database', () => {
  let database: TestDatabase;
  let proxy: CuttableProxy;
  let plane: Plane;
  let dataDir: string;
  beforeAll(async () => {
    database = await newReadyDatabase();
    const url = new URL(database.url);
    proxy = await startProxy(url.hostname, Number(url.port || 5432));
    url.hostname = '127.0.0.1';
    url.port = String(proxy.port);
    dataDir = await mkdtemp(join(tmpdir(), 'svc-admin-'));
    plane = await startPlaneWith(testSettings(dataDir, { DATABASE_URL: url.href, DB_POOL_SIZE: '2' }));
  });
  afterAll(async () => {
    await plane?.close();
    await proxy?.close();
    await database?.drop();
    if (dataDir) await rm(dataDir, { recursive: true, force: true });
  });
  beforeEach(() => proxy.restore());

  // With a pool of two, the tests after this one fail if a broken transaction keeps its connection.

  const create = (slug: string) => plane.ask('POST', '/configs', { body: { name: slug, slug, config: { provider: '@mock' } } });
  const revisionsOfEvents = async () => (await plane.events()).map((one) => one.revision);
  /** The documented limit is 3 s. The rest allows for a busy machine. */
  const promptly = (reply: Promise<Reply>) => within(reply, 'a reply', 5_000);
  const expectAway = (reply: Reply) => {
    expect({ status: reply.status, code: reply.body.data.errorCode }).toEqual({ status: 503, code: 'AB10' });
    expect(reply.headers.get('retry-after')).toBe('1');
  };
  const expectLate = (reply: Reply) => {
    expectAway(reply);
    expect(reply.body.data.message).toMatch(/^The database did not reply in time\. .*shorten its time range/);
  };

  it('causes 503 with retry-after for reads, writes and gateway requests, never 401 or 404', async () => {
    await proxy.cut();
    expectAway(await promptly(plane.ask('GET', '/configs')));
    expectAway(await promptly(create('cut')));
    expectAway(await promptly(plane.internal('GET', '/documents/api-key/AAAAAAAAAAAA')));
    expectAway(await promptly(plane.internal('GET', '/changes?after=0')));
    expectAway(await promptly(plane.internal('POST', '/records', [sampleRecord({ organisationId: null, workspaceId: null })])));
    expect((await fetch(`${plane.url}/ready`)).status).toBe(503);
    expect((await fetch(`${plane.url}/health`)).status).toBe(200);
  });

  it('causes 503 within the deadline if it does not respond, and nothing is written', async () => {
    proxy.stall();
    const [write, read, question] = await Promise.all([
      promptly(create('silent')),
      promptly(plane.ask('GET', '/configs')),
      promptly(plane.internal('GET', '/changes?after=0')),
    ]);
    for (const reply of [write, read, question]) expectAway(reply);
    await proxy.restore();
    expect((await plane.ask('GET', '/configs/silent')).status).toBe(404);
  });

  it('causes 503 while a table is locked, and no query of a failed request continues to wait at the server', async () => {
    await plane.control.services.database.em().transactional(async (tx) => {
      await tx.execute('lock table configs in access exclusive mode');
      for (const slug of ['locked-a', 'locked-b']) expectLate(await promptly(create(slug)));
      const waiting = `select count(*)::int as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      await vi.waitFor(async () => expect(await tx.execute(waiting)).toEqual([{ waiting: 0 }]), 1_500);
    });
    expect((await create('locked-a')).status).toBe(200);
  });

  it('causes 503, not 500, if its own statement_timeout cancels a statement', async () => {
    const em = () => plane.control.services.database.em();
    // Both connections of the pool at the same time.
    const limit = (ms: number) => em().execute("select set_config('statement_timeout', ?, false), pg_sleep(0.2)", [String(ms)]);
    await Promise.all([limit(500), limit(500)]);
    await em().transactional(async (tx) => {
      await tx.execute('lock table configs in access exclusive mode');
      expectLate(await promptly(create('cancelled')));
    });
    await Promise.all([limit(0), limit(0)]);
    expect((await create('cancelled')).status).toBe(200);
  });

  it.each([
    ['insert into audit_entries', 'half-a'],
    ['update change_counter', 'half-b'],
    ['commit', 'half-c'],
  ])('leaves no partial write if it disconnects at: %s', async (statement, slug) => {
    const revisionsBefore = await revisionsOfEvents();
    const audits = await plane.auditCount();
    proxy.cutWhen(statement, slug);
    expectAway(await promptly(create(slug)));
    expect(await revisionsOfEvents()).toEqual(revisionsBefore);
    expect(await plane.auditCount()).toBe(audits);
    expect((await plane.ask('GET', `/configs/${slug}`)).status).toBe(404);
    expect((await create(slug)).status).toBe(200);
    const revisions = await revisionsOfEvents();
    expect(revisions).toEqual(revisions.map((_, index) => index + 1));
  });

  it('is used again when it is back', async () => {
    await proxy.cut();
    expectAway(await promptly(create('before')));
    await proxy.restore();
    expect((await create('before')).status).toBe(200);
  });

  it('is used again after a failover, although old connections lead to a server that became read-only', async () => {
    const em = () => plane.control.services.database.em();
    // Both connections of the pool at the same time.
    const demote = () => em().execute("select set_config('default_transaction_read_only', 'on', false), pg_sleep(0.3)");
    await Promise.all([demote(), demote()]);
    // A background query may be the first to notice a read-only connection, so that no write is refused.
    const refused: Reply[] = [];
    const write = async (slug: string) => {
      const reply = await create(slug);
      if (reply.status !== 200) refused.push(reply);
      expect(reply.status).toBe(200);
    };
    for (const slug of ['read-only-a', 'read-only-b']) await vi.waitFor(() => write(slug), 5_000);
    for (const reply of refused) expectAway(reply);
  });

  const ready = async () => {
    const reply = await fetch(`${plane.url}/ready`);
    return { status: reply.status, warnings: ((await reply.json()) as { warnings?: string[] }).warnings };
  };

  it('causes 200 with a warning at /ready while it is read-only, because documents of gateways are still served', async () => {
    await database.setReadOnly(true);
    try {
      await proxy.cut();
      await proxy.restore();
      await vi.waitFor(async () => {
        expect(await ready()).toEqual({ status: 200, warnings: [expect.stringMatching(/^The database is read-only/)] });
      }, 5_000);
      expect((await plane.internal('GET', '/changes?after=0')).status).toBe(200);
      const refused = await create('read-only');
      expectAway(refused);
      expect(refused.body.data.message).toBe('The database is read-only, such as a standby. Try again shortly');
    } finally {
      await database.setReadOnly(false);
      await proxy.cut();
      await proxy.restore();
    }
    await vi.waitFor(async () => expect(await ready()).toEqual({ status: 200, warnings: undefined }), 5_000);
  });

  // The last tests: the warning stays for 10 s after the last write that failed.
  it.each([
    ['53100', 'could not extend file', 'The disk of the database is full'],
    ['58030', 'could not write to file "base/5/2619": Input/output error', 'The disk of the database is read-only or fails'],
    ['42501', 'could not open file "base/5/2619": Read-only file system', 'The disk of the database is read-only or fails'],
  ])(
    'with the error %s causes a 503 that names the disk, and a warning at /ready, although reads succeed',
    async (code, text, expected) => {
      const em = () => plane.control.services.database.em();
      await em().execute(`create function fail() returns trigger language plpgsql as $$
      begin raise exception '${text}' using errcode = '${code}'; end $$`);
      await em().execute('create trigger full_disk before insert on configs execute function fail()');
      const refused = await create('disk');
      await em().execute('drop function fail cascade');
      expectAway(refused);
      expect(refused.body.data.message).toBe(`${expected}. Try again shortly`);
      expect(await ready()).toEqual({ status: 200, warnings: [expect.stringMatching(new RegExp(`^${expected}\\. Changes`))] });
      expect((await plane.ask('GET', '/configs')).status).toBe(200);
    },
  );
});

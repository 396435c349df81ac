import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { outbox } from '../../../admin/publish/entity.ts';
import { startRelay } from '../../../admin/publish/relay.ts';
import type { ChangeNotice } from '../../../core/contract/protocol/notices/change-notice.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { until } from '../../support/until.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { databases } from '../support/test-database.ts';

describe.each(databases)('revisions and notices, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const create = (name: string) => plane.ask('POST', '/configs', { body: { name, slug: name, config: { provider: '@mock' } } });

  it('have no gaps after concurrent changes, including rejected ones, and are published in order', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `many-${index % 10}`);
    const replies = await Promise.all(names.map(create));
    expect(replies.filter((one) => one.status === 200)).toHaveLength(10);
    expect(replies.filter((one) => one.status === 409)).toHaveLength(2);
    const revisions = (await plane.events()).map((one) => one.revision);
    expect(revisions).toEqual(revisions.map((_, index) => index + 1));
    await until(() => plane.notices.length >= revisions.length, { what: 'all notices' });
    expect(plane.notices.map((one) => one.revision)).toEqual(revisions);
    expect(plane.notices.at(-1)).toEqual({
      revision: revisions.length,
      kind: 'config',
      id: expect.stringContaining('many-'),
      op: 'upsert',
    });
  });

  it('are published at start if an earlier run left some', async () => {
    // A control plane that has stopped: a relay that runs would read the rows too.
    const stopped = await startPlane(database);
    await stopped.control.close();
    const store = stopped.control.services.database;
    const all = await stopped.events();
    await store.em().nativeUpdate(outbox, { revision: { $gt: 3 } }, { publishedAt: null });
    const sent: ChangeNotice[] = [];
    const relay = startRelay(store, (notice) => void sent.push(notice), newMemoryLog());
    await relay.close();
    expect(all.length).toBeGreaterThan(3);
    expect(sent).toEqual(all.slice(3).map(({ revision, kind, documentId, op }) => ({ revision, kind, id: documentId, op })));
    expect(await store.em().count(outbox, { publishedAt: null })).toBe(0);
    await stopped.close();
  });

  it('continue after changes that another control plane has published', async () => {
    const stopped = await startPlane(database);
    await stopped.control.close();
    const store = stopped.control.services.database;
    const unpublish = (revision: object | number) => store.em().nativeUpdate(outbox, { revision }, { publishedAt: null });
    await unpublish({ $lte: 2 });
    const sent: number[] = [];
    const relay = startRelay(store, ({ revision }) => void sent.push(revision), newMemoryLog());
    await until(() => sent.length === 2);
    await unpublish(4);
    relay.wake();
    await relay.close();
    expect(sent).toEqual([1, 2, 4]);
    await stopped.close();
  });

  it('continue after a publish failed', async () => {
    const log = newMemoryLog();
    const { database: store } = plane.control.services;
    const relay = startRelay(
      {
        em: () => {
          throw new Error('away');
        },
      },
      () => {},
      log,
    );
    await relay.close();
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { reason: 'away', error: { name: 'Error' } } }]);
    expect(await store.em().count(outbox, { publishedAt: null })).toBe(0);
    expect((await create('after')).status).toBe(200);
    await until(() => plane.notices.some((one) => one.id.endsWith('/after')), { what: 'the notice' });
  });
});

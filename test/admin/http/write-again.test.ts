import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../admin/db/new-id.ts';
import { writeChange } from '../../../admin/publish/write-change.ts';
import { configs } from '../../../admin/resources/configs/entity.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { databases } from '../support/test-database.ts';

describe.each(databases)('a change with a concurrent conflict, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
    await plane.ask('POST', '/configs', { body: { name: '0', slug: 'counted', config: { provider: '@mock' } } });
  });
  afterAll(() => plane?.close());

  it('runs again with the new state, and leaves one audit entry', async () => {
    const { database: store, auditKey } = plane.control.services;
    const where = { organisationId: plane.organisationId, slug: 'counted' };
    let runs = 0;
    const addOne = () =>
      writeChange(store.emOf(plane.organisationId), auditKey, draft(plane.organisationId), null, async (change) => {
        runs += 1;
        const row = await change.tx.findOneOrFail(configs, where);
        row.name = String(Number(row.name) + 1);
        change.about(row);
      });
    const before = await plane.auditCount();
    await Promise.all(Array.from({ length: 8 }, addOne));
    expect((await store.em().findOneOrFail(configs, where)).name).toBe('8');
    expect(await plane.auditCount()).toBe(before + 8);
    // The embedded database runs one transaction at a time.
    if (database === 'PostgreSQL') expect(runs).toBeGreaterThan(8);
  });

  it('stores nothing if its client got a reply because it took too long', async () => {
    const { database: store, auditKey } = plane.control.services;
    const em = store.emOf(plane.organisationId);
    const expired = new AbortController();
    const before = await plane.auditCount();
    const change = writeChange(em, auditKey, draft(plane.organisationId), expired.signal, async ({ tx }) => {
      const row = await tx.findOneOrFail(configs, { organisationId: plane.organisationId, slug: 'counted' });
      row.name = 'too late';
      expired.abort(new Error('the client got 503'));
    });
    await expect(change).rejects.toThrow('the client got 503');
    expect(await store.em().count(configs, { name: 'too late' })).toBe(0);
    expect(await plane.auditCount()).toBe(before);
  });

  it('reports a conflict in the words of its resource if another one was first', async () => {
    const body = { name: 'raced', slug: 'raced', config: { provider: '@mock' } };
    const replies = await Promise.all(Array.from({ length: 4 }, () => plane.ask('POST', '/configs', { body })));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    const refused = replies.filter(({ status }) => status === 409);
    for (const one of refused) expect(one.body.data.message).toBe('slug: a config with the slug raced already exists');
  });

  it('succeeds for all callers if each result is valid', async () => {
    const body = { name: 'default', config: { provider: '@mock' }, isDefault: 1 };
    const replies = await Promise.all(Array.from({ length: 4 }, () => plane.ask('POST', '/configs', { body })));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const list = (await plane.ask('GET', '/configs')).body.data as { is_default: number }[];
    expect(list.filter((one) => one.is_default === 1)).toHaveLength(1);
  });
});

function draft(organisationId: string) {
  const request = { method: 'PUT', uri: '/', requestId: newId(), requestBody: null, queryParams: {}, clientIp: 'local' };
  const who = { organisationId, workspaceId: null, userId: null, userType: 'system' as const };
  return { ...request, ...who, resourceType: 'configs', action: 'update' };
}

import { wrap } from '@mikro-orm/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findPage } from '../../../admin/db/find-page.ts';
import { readRow, readRows } from '../../../admin/db/plain-rows.ts';
import { apiKeys } from '../../../admin/resources/api-keys/entity.ts';
import { configs } from '../../../admin/resources/configs/entity.ts';
import { organisations } from '../../../admin/resources/organisations/entity.ts';
import { users } from '../../../admin/resources/users/entity.ts';
import { workspaces } from '../../../admin/resources/workspaces/entity.ts';
import { newPerson } from '../support/people.ts';
import { type Plane, startPlane, type Tenant } from '../support/plane.ts';
import { databases } from '../support/test-database.ts';

describe.each(databases)('rows without entities, on %s', (database) => {
  let plane: Plane;
  let other: Tenant;
  beforeAll(async () => {
    plane = await startPlane(database);
    other = await plane.newTenant();
    await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'viewer' }]);
    for (const slug of ['a', 'b', 'c']) {
      const body = { name: slug, slug, config: { provider: '@mock' } };
      expect((await plane.ask('POST', '/configs', { body })).status).toBe(200);
    }
  });
  afterAll(() => plane?.close());

  const all = () => plane.control.services.database.em();
  const own = () => plane.control.services.database.emOf(plane.organisationId);
  const organisationId = () => plane.organisationId;

  it.each([
    ['organisations', organisations, () => ({ id: organisationId() })],
    ['workspaces', workspaces, () => ({ id: plane.workspaceId, organisationId: organisationId() })],
    ['users', users, () => ({ organisationId: organisationId(), role: 'member' })],
    ['keys', apiKeys, () => ({ organisationId: organisationId(), workspaceId: null })],
  ])('%s have the values of their entity', async (_name, schema, where) => {
    const entity = await all().findOneOrFail(schema as typeof workspaces, where());
    const row = await readRow(all(), schema as typeof workspaces, where());
    expect(row).not.toHaveProperty('__helper');
    // The ORM does not show values that it has not loaded.
    expect(row).toEqual(wrap(entity).toPOJO());
    expect(row?.revision).toBeTypeOf('number');
  });

  it('are found by a text with any character, and by a list', async () => {
    for (const slug of ["o'b", 'a\\', '?', '$1']) expect(await readRow(own(), configs, { slug })).toBeNull();
    expect(await readRow(own(), configs, { slug: "' or 'a' = 'a" })).toBeNull();
    const found = await readRows(own(), configs, { slug: ['a', 'c', 'd'], status: 'active' });
    expect(found.map(({ slug }) => slug).sort()).toEqual(['a', 'c']);
    expect(await readRows(own(), configs, { slug: [] })).toEqual([]);
  });

  it('are never all rows because a value is missing', async () => {
    const missing = { id: undefined } as unknown as { id: string };
    await expect(readRow(own(), workspaces, missing)).rejects.toThrow('id has no column or no value');
    await expect(readRow(own(), workspaces, { nothing: 'a' } as never)).rejects.toThrow('nothing has no column or no value');
  });

  it('are those of the organisation alone', async () => {
    expect(await readRow(own(), workspaces, { id: other.workspaceId })).toBeNull();
    expect(await readRow(all(), workspaces, { id: other.workspaceId })).toMatchObject({ organisationId: other.organisationId });
  });

  it('have the changes of their transaction, also before they are stored', async () => {
    await own().transactional(async (tx) => {
      const entity = await tx.findOneOrFail(configs, { slug: 'a' });
      entity.name = 'changed';
      expect(await readRow(tx, configs, { slug: 'a' })).toMatchObject({ name: 'changed' });
      expect(await readRows(tx, configs, { slug: 'a' })).toMatchObject([{ name: 'changed' }]);
    });
    expect(await readRow(own(), configs, { slug: 'a' })).toMatchObject({ name: 'changed' });
  });

  it.each([
    [2, 0, ['a', 'b']],
    [2, 2, ['c']],
    [3, 0, ['a', 'b', 'c']],
    [4, 0, ['a', 'b', 'c']],
    [3, 3, []],
    [2, 100, []],
  ])('a page of %i after %i has the number of all rows', async (limit, offset, slugs) => {
    const [rows, total] = await findPage(own(), configs, { status: 'active' }, { limit, offset, orderBy: { slug: 'asc' } });
    expect([rows.map(({ slug }) => slug), total]).toEqual([slugs, 3]);
  });

  it('a first page without rows has the number 0', async () => {
    expect(await findPage(own(), configs, { slug: 'none' }, { limit: 2, offset: 0 })).toEqual([[], 0]);
  });
});

import { IsolationLevel } from '@mikro-orm/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EntityManager } from '../../../admin/db/open-database.ts';
import { isDatabaseAway } from '../../../admin/is-database-away.ts';
import { configs } from '../../../admin/resources/configs/entity.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { databases } from '../support/test-database.ts';

describe.each(databases)('the session of a tenant in the message of its statement, on %s', (name) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(name);
    const other = await plane.newTenant();
    const body = { slug: 'same', config: { provider: '@mock' } };
    await plane.ask('POST', '/configs', { body: { ...body, name: 'Mine' } });
    await plane.ask('POST', '/configs', { key: other.adminKey, body: { ...body, name: 'Theirs' } });
  });
  afterAll(() => plane?.close());

  const own = () => plane.control.services.database.emOf(plane.organisationId);
  const system = () => plane.control.services.database.em();
  const roleOf = async (em: EntityManager) => (await em.execute<[{ role: string }]>('select current_user::text as role'))[0].role;
  /** All connections of the pool are free again, without a tenant and outside a transaction. */
  const expectClean = async () => {
    expect(await Promise.all(Array.from({ length: 5 }, () => system().count(configs)))).toEqual([2, 2, 2, 2, 2]);
    expect(await roleOf(system())).not.toBe('svc_tenant');
  };

  it('takes the role of tenants and gives it back', async () => {
    expect(await roleOf(own())).toBe('svc_tenant');
    expect(await own().transactional(roleOf)).toBe('svc_tenant');
    await expectClean();
  });

  it('applies to every statement of a transaction, with and without an isolation level', async () => {
    for (const isolationLevel of [undefined, IsolationLevel.SERIALIZABLE]) {
      const seen = await own().transactional(
        async (tx) => [await tx.count(configs), await tx.count(configs), await tx.transactional((inner) => inner.count(configs))],
        { isolationLevel },
      );
      expect(seen).toEqual([1, 1, 1]);
    }
    await expectClean();
  });

  it('returns the result of the statement, not of the session', async () => {
    expect(await own().nativeUpdate(configs, { slug: 'same' }, { name: 'Mine again' })).toBe(1);
    expect(await own().nativeUpdate(configs, { slug: 'absent' }, { name: 'None' })).toBe(0);
    expect(await own().transactional((tx) => tx.nativeUpdate(configs, { slug: 'same' }, { name: 'Mine' }))).toBe(1);
    expect((await own().find(configs, {})).map((row) => row.name)).toEqual(['Mine']);
  });

  it('is not an outage if a value contains a zero byte, which would block records of others', async () => {
    for (const em of [own(), system()]) {
      const failure = await em.find(configs, { slug: 'a\u0000b' }).then(
        () => null,
        (error: unknown) => error,
      );
      expect([failure instanceof Error, isDatabaseAway(failure)]).toEqual([true, false]);
    }
    await expectClean();
  });

  it('ends with a statement that fails', async () => {
    for (const statement of ['select 1 / 0', 'select from where', "select 'x'::uuid"]) {
      await expect(own().execute(statement)).rejects.toThrow();
      await expect(own().transactional((tx) => tx.execute(statement))).rejects.toThrow();
      const second = own().transactional(async (tx) => {
        await tx.nativeUpdate(configs, { slug: 'same' }, { name: 'Undone' });
        await tx.execute(statement);
      });
      await expect(second).rejects.toThrow();
      await expectClean();
    }
    expect(await own().count(configs, { name: 'Mine' })).toBe(1);
  });

  it('undoes a statement if the transaction fails after it', async () => {
    const failing = own().transactional(async (tx) => {
      await tx.nativeUpdate(configs, { slug: 'same' }, { name: 'Undone' });
      throw new Error('afterwards');
    });
    await expect(failing).rejects.toThrow('afterwards');
    expect(await own().count(configs, { name: 'Mine' })).toBe(1);
    await expectClean();
  });

  it('accepts transactions without a statement', async () => {
    expect(await own().transactional(async () => 'done')).toBe('done');
    await expect(own().transactional(() => Promise.reject(new Error('unused')))).rejects.toThrow('unused');
    await expectClean();
  });

  it('sends a statement with its session, and on a server the begin of a transaction with its first statement', async () => {
    const message = 'select current_query() as query';
    const sent = async (em: EntityManager) => (await em.execute<[{ query: string }]>(message))[0].query;
    const session = `select set_config('svc.organisation', '${plane.organisationId}', true), set_config('role', 'svc_tenant', true); `;
    expect(await sent(own())).toBe(session + message);
    // PGlite begins transactions by itself.
    if (name === 'PGlite') return;
    const transaction = await own().transactional(async (tx) => [await sent(tx), await sent(tx)]);
    const limits = 'set local idle_in_transaction_session_timeout = 300000; set local lock_timeout = 120000; ';
    expect(transaction).toEqual([`begin; ${limits}${session}${message}`, message]);
    expect(await sent(system())).toBe(message);
    expect(await system().transactional(sent)).toBe(`begin; ${limits}${message}`);
  });
});

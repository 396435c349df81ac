import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { idempotencyKeys } from '../../../admin/http/idempotency/entity.ts';
import { forgetExpiredKeys } from '../../../admin/http/idempotency/repeat.ts';
import { expectRefusal } from '../support/outcomes.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { databases } from '../support/test-database.ts';

describe.each(databases)('creates with an idempotency-key, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const body = (name: string) => ({ name, config: { provider: '@mock' } });
  const post = (key: string, sent: unknown, as?: string) =>
    plane.ask('POST', '/configs', { body: sent, headers: { 'idempotency-key': key }, ...(as ? { key: as } : {}) });
  const count = async () => (await plane.ask('GET', '/configs')).body.total as number;
  const em = () => plane.control.services.database.em();

  it('are executed once and return the same reply, without a second audit entry or event', async () => {
    const first = await post('once', body('Once'));
    const [configsBefore, audits, events] = [await count(), await plane.auditCount(), (await plane.events()).length];
    const again = await post('once', body('Once'));
    expect(again.status).toBe(200);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect([await count(), await plane.auditCount(), (await plane.events()).length]).toEqual([configsBefore, audits, events]);
  });

  it('are executed once if they are concurrent', async () => {
    const before = await count();
    const replies = await Promise.all(Array.from({ length: 6 }, () => post('at-once', { ...body('At once'), slug: 'at-once' })));
    expect(replies.map((reply) => reply.status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(new Set(replies.map((reply) => reply.body.data.id)).size).toBe(1);
    expect(await count()).toBe(before + 1);
  });

  it('reject another body or query under the same key with 422', async () => {
    await post('mixed', body('Mixed'));
    await expectRefusal(plane, () => post('mixed', body('Different')), 422, 'AB01', true);
    const otherQuery = () =>
      plane.ask('POST', '/configs?workspace_id=ws-default', { body: body('Mixed'), headers: { 'idempotency-key': 'mixed' } });
    await expectRefusal(plane, otherQuery, 422, 'AB01', true);
  });

  it('are separate per caller: another key of the same or another organisation is no repetition', async () => {
    const first = await post('shared', body('Shared'));
    const other = await plane.newTenant();
    for (const key of [plane.workspaceKey, other.adminKey]) {
      const reply = await post('shared', body('Shared'), key);
      expect(reply.status).toBe(200);
      expect(reply.body.data.id).not.toBe(first.body.data.id);
    }
  });

  it('may be retried after a rejection', async () => {
    await expectRefusal(plane, () => post('second-try', { name: 'x' }), 400, 'AB01', true);
    expect((await post('second-try', body('Better'))).status).toBe(200);
  });

  it('keep replies with secrets sealed', async () => {
    const sent = { name: 'k', scopes: ['completions.write'] };
    const make = () => plane.ask('POST', '/api-keys/workspace/service', { body: sent, headers: { 'idempotency-key': 'a-key' } });
    const first = await make();
    expect(first.body.key).toMatch(/^svc_ws_/);
    expect((await make()).body).toEqual(first.body);
    const rows = await em().find(idempotencyKeys, {});
    expect(JSON.stringify(rows)).not.toContain(first.body.key.slice(10, 40));
    expect(rows.every((row) => row.reply !== null)).toBe(true);
  });

  it('are reported as executed if the reply was lost, and are not executed again', async () => {
    await post('lost', body('Lost'));
    await em().nativeUpdate(idempotencyKeys, {}, { reply: null });
    const before = await count();
    await expectRefusal(plane, () => post('lost', body('Lost')), 409, 'AB07', true);
    expect(await count()).toBe(before);
  });

  it('are new again after a day, and older ones are deleted', async () => {
    const first = await post('old', body('Old'));
    const past = new Date(Date.now() - 1_000);
    await em().nativeUpdate(idempotencyKeys, {}, { expiresAt: past });
    const again = await post('old', body('Old'));
    expect(again.body.data.id).not.toBe(first.body.data.id);
    expect(await forgetExpiredKeys(em())).toBeGreaterThan(0);
    expect(await em().count(idempotencyKeys)).toBe(1);
  });

  it.each(['', 'with space', 'ü', 'x'.repeat(256)])('reject the key %j', async (key) => {
    const headers = { 'idempotency-key': Buffer.from(key).toString('latin1') };
    const ask = () => plane.ask('POST', '/configs', { body: body('x'), headers });
    await expectRefusal(plane, ask, 400, 'AB01', true);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/until.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { postgresMissing } from '../support/test-database.ts';

// The embedded database runs one transaction at a time.
if (postgresMissing) console.warn(`skipped: ${postgresMissing}`);

describe.skipIf(postgresMissing !== null)('a change whose time limit ends', () => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane('PostgreSQL');
    Object.assign(plane.control.services, { requestDeadlineMs: 5_000 });
    // The commit of a new label waits for the lock.
    await em().execute(`create function wait_at_commit() returns trigger language plpgsql as
      'begin perform pg_advisory_xact_lock(657); return null; end'`);
    await em().execute(`create constraint trigger waits after insert on prompt_labels deferrable initially deferred
      for each row execute function wait_at_commit()`);
  });
  afterAll(async () => {
    await em().execute('drop function if exists wait_at_commit() cascade');
    await plane?.close();
  });

  const em = () => plane.control.services.database.em();
  const create = (path: string, body: object) => plane.ask('POST', path, { body: { ...body, workspace_id: plane.workspaceId } });
  const aCommandWaits = () =>
    until(
      async () => {
        const sql = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
        return (await em().execute(sql)).length === 1;
      },
      { what: 'a request that waits for a lock' },
    );

  it('is a success if its commit had begun', async () => {
    const { id } = (await create('/configs', { name: 'held', slug: 'pc-held', config: { provider: '@mock' } })).body;
    const { committing, held } = await em().transactional(async (tx) => {
      await tx.execute('select pg_advisory_xact_lock(657)');
      await tx.execute('select from configs where id = ? for update', [id]);
      const committing = create('/labels', { name: 'late' });
      await aCommandWaits();
      // Its limit begins later, so the limit of the first has ended when it replies.
      const held = await plane.ask('PUT', '/configs/pc-held', { body: { name: 'changed' } });
      return { committing: { reply: committing }, held };
    });
    expect(held).toMatchObject({ status: 503, body: { data: { errorCode: 'AB10' } } });
    const { status, body } = await committing.reply;
    expect(status).toBe(200);
    expect((await plane.ask('GET', `/labels/${body.id}`)).body).toMatchObject({ name: 'late' });
    expect((await plane.ask('GET', '/configs/pc-held')).body).toMatchObject({ name: 'held' });
  });

  it('stores nothing if it waited for the lock of revisions', async () => {
    const body = { name: 'late', slug: 'pc-late', config: { provider: '@mock' } };
    const reply = await em().transactional(async (tx) => {
      await tx.execute('select from change_counter for update');
      return create('/configs', body);
    });
    expect(reply).toMatchObject({ status: 503, body: { data: { errorCode: 'AB10' } } });
    expect(await create('/configs', body)).toMatchObject({ status: 200 });
  });
});

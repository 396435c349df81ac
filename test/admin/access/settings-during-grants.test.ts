import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/until.ts';
import { newPerson, type Person } from '../support/people.ts';
import { type Plane, type Reply, startPlane } from '../support/plane.ts';
import { postgresMissing } from '../support/test-database.ts';

// The embedded database runs one transaction at a time.
if (postgresMissing) console.warn(`skipped: ${postgresMissing}`);

describe.skipIf(postgresMissing !== null)('a key that a manager grants while security settings change', () => {
  let plane: Plane;
  let manager: Person;
  beforeAll(async () => {
    plane = await startPlane('PostgreSQL');
    manager = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'manager' }]);
  });
  afterAll(() => plane?.close());

  const em = () => plane.control.services.database.em();
  const grant = () =>
    plane.ask('POST', '/api-keys/workspace/service', {
      key: manager.token,
      body: { name: 'k', scopes: ['logs.view', 'configs.list'], workspace_id: plane.workspaceId },
    });
  const setView = (managersViewLogs: boolean) =>
    plane.ask('PUT', '/organisations/self', { body: { security_settings: { managersViewLogs } } });
  const waitersAre = (count: number) =>
    until(
      async () => {
        const found = await em().execute(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return found.length === count;
      },
      { what: `${count} requests that wait for a lock` },
    );

  /** Runs two requests so that neither commits before both have done everything else. They wait for the audit trail, or for each other. */
  async function overlapping(first: () => Promise<Reply>, second: () => Promise<Reply>): Promise<[Reply, Reply]> {
    const replies: Promise<Reply>[] = [];
    await em().transactional(async (tx) => {
      await tx.execute('select from audit_chains where organisation_id = ? for update', [plane.organisationId]);
      replies.push(first());
      await waitersAre(1);
      replies.push(second());
      await waitersAre(2);
    });
    return Promise.all(replies) as Promise<[Reply, Reply]>;
  }

  it('loses its scopes if the settings change before the grant is committed', async () => {
    const [granted, set] = await overlapping(grant, () => setView(false));
    expect([granted.status, set.status]).toEqual([200, 200]);
    expect((await plane.ask('GET', `/api-keys/${granted.body.id}`)).body.scopes).toEqual(['configs.list']);
    expect((await setView(true)).status).toBe(200);
    expect((await plane.ask('GET', `/api-keys/${granted.body.id}`)).body.scopes).toEqual(['logs.view', 'configs.list']);
  });

  it('is refused if the change of the settings is committed first', async () => {
    const [set, granted] = await overlapping(() => setView(false), grant);
    expect([set.status, granted.status, granted.body.data?.errorCode]).toEqual([200, 403, 'AB03']);
    expect((await setView(true)).status).toBe(200);
  });
});

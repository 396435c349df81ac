import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EntityManager } from '../../../../admin/db/open-database.ts';
import { followGroups } from '../../../../admin/resources/scim-users/follow-groups.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { databases } from '../../support/test-database.ts';

const groups = 60;
const joining = 40;
const tables = ['scim_group_members', 'scim_group_workspaces', 'workspaces', 'workspace_members', 'users'];

/** Rows and index look-ups of this transaction so far, in the tables of memberships. */
async function readsOf(tx: EntityManager): Promise<number> {
  const [found] = await tx.execute<[{ reads: number }]>(
    `select sum(seq_tup_read + idx_tup_fetch + idx_scan)::int as reads from pg_stat_xact_user_tables
     where relname in (${tables.map(() => '?')})`,
    tables,
  );
  return found.reads;
}

describe.each(databases)('memberships by groups, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
    const em = plane.control.services.database.em();
    const { organisationId } = plane;
    // PostgreSQL would otherwise make statistics in the middle of the test, and choose other plans by them.
    for (const table of tables) await em.execute(`alter table ${table} set (autovacuum_enabled = false)`, [], 'run');
    // Groups and workspaces of other users, and users of no group, in tables without statistics.
    for (const sql of [
      `insert into users (id, organisation_id, email, role, created_at, last_updated_at)
       select ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, ?, 'user-' || n || '@example.com', 'member', now(), now()
       from generate_series(1, ${3 * joining}) n`,
      `insert into scim_groups (id, organisation_id, display_name, created_at, last_updated_at)
       select ('00000000-0000-4000-9000-' || lpad(n::text, 12, '0'))::uuid, ?, 'Group ' || n, now(), now() from generate_series(1, ${groups}) n`,
      `insert into workspaces (id, organisation_id, slug, name, is_default, metadata, status, created_at, last_updated_at)
       select ('00000000-0000-4000-a000-' || lpad(n::text, 12, '0'))::uuid, ?, 'w-' || n, 'W ' || n, false, '{}', 'active', now(), now()
       from generate_series(1, ${groups}) n`,
      `insert into scim_group_workspaces (id, organisation_id, group_id, workspace_id, role, by_name, made_workspace, created_at)
       select gen_random_uuid(), ?, ('00000000-0000-4000-9000-' || lpad(n::text, 12, '0'))::uuid,
         ('00000000-0000-4000-a000-' || lpad(n::text, 12, '0'))::uuid, 'member', false, false, now() from generate_series(1, ${groups}) n`,
      `insert into scim_group_members (organisation_id, group_id, user_id)
       select ?, '00000000-0000-4000-9000-000000000001', ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid
       from generate_series(1, ${joining}) n`,
    ]) {
      await em.execute(sql, [organisationId], 'run');
    }
  });
  afterAll(() => plane?.close());

  it('cost reads in proportion to the users of the change, whatever the number of groups in the organisation', async () => {
    const { organisationId } = plane;
    const { apiKeyPepper, clock, database } = plane.control.services;
    const userIds = Array.from({ length: joining }, (_, n) => `00000000-0000-4000-8000-${String(n + 1).padStart(12, '0')}`);
    const workspaceIds = ['00000000-0000-4000-a000-000000000001'];
    await database.emOf(organisationId).transactional(async (tx) => {
      // Sequential scans of small tables would hide the look-ups.
      await tx.execute('set local enable_seqscan = off');
      const before = await readsOf(tx);
      const change = { tx, emit: () => {}, about: () => {}, by: () => {}, replies: () => {}, refuse: () => {} };
      const making = { apiKeyPepper, now: clock.now() };
      await followGroups(change, organisationId, { userIds, workspaceIds }, making);
      const reads = (await readsOf(tx)) - before;
      expect(reads).toBeGreaterThan(joining);
      // Each user is read in the group, in the workspace and in the table of users, and is announced.
      expect(reads).toBeLessThan(20 * joining);
      const added = await tx.execute<{ count: number }[]>('select count(*)::int as count from workspace_members where by_group');
      expect(added).toEqual([{ count: joining }]);
    });
  });
});

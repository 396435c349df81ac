import { executeBound } from '../../db/execute-bound.ts';
import type { EntityManager } from '../../db/open-database.ts';

const roles = ['member', 'manager', 'admin'] as const;

/** Users and workspaces whose memberships may differ from the groups. */
export interface Affected {
  readonly userIds: readonly string[];
  /** Null: all workspaces. */
  readonly workspaceIds: readonly string[] | null;
}

/** A membership that differs from what the groups of the user give. */
export interface Difference {
  readonly user_id: string;
  readonly workspace_id: string;
  /** Null: no group gives a role. */
  readonly wanted: string | null;
  /** Null: not a member. */
  readonly current: string | null;
}

interface Mapping {
  readonly group_id: string;
  readonly workspace_id: string;
  readonly role: (typeof roles)[number];
}

/** A row of one of three tables. */
interface Row {
  readonly source: 'group' | 'membership' | 'deactivated';
  readonly user_id: string;
  /** The group or the workspace. */
  readonly id: string | null;
  readonly role: string | null;
  readonly by_group: boolean | null;
}

/**
 * Returns the memberships to write, in the order of workspaces and users. Each statement reads one table by lists of ids and joins nothing
 * large: PostgreSQL has no statistics of tables that a first sync is filling, and chose joins that looked up every user in every group of the
 * organisation.
 */
export async function findDifferences(
  tx: EntityManager,
  organisationId: string,
  { userIds, workspaceIds }: Affected,
): Promise<Difference[]> {
  if (userIds.length === 0 || workspaceIds?.length === 0) return [];
  const mappings = await executeBound<Mapping>(
    tx,
    `select w.group_id, w.workspace_id, w.role from scim_group_workspaces w
       join workspaces s on s.id = w.workspace_id and s.status = 'active'
     where w.organisation_id = $1 and ($2::uuid[] is null or w.workspace_id = any($2::uuid[]))`,
    [organisationId, workspaceIds],
  );
  const groupIds = [...new Set(mappings.map((mapping) => mapping.group_id))];
  const rows = await executeBound<Row>(
    tx,
    `select 'group' as source, user_id, group_id as id, null as role, null::boolean as by_group from scim_group_members
       where organisation_id = $1 and group_id = any($2::uuid[]) and user_id = any($3::uuid[])
     union all select 'membership', user_id, workspace_id, role, by_group from workspace_members
       where organisation_id = $1 and ($4::uuid[] is null or workspace_id = any($4::uuid[])) and user_id = any($3::uuid[])
     union all select 'deactivated', id, null, null, null from users
       where organisation_id = $1 and id = any($3::uuid[]) and deactivated_at is not null`,
    [organisationId, groupIds, userIds, workspaceIds],
  );
  return compare(mappings, rows);
}

function compare(mappings: readonly Mapping[], rows: readonly Row[]): Difference[] {
  const mappingsOf = Map.groupBy(mappings, (mapping) => mapping.group_id);
  const deactivated = new Set(rows.filter((row) => row.source === 'deactivated').map((row) => row.user_id));
  const found = new Map<string, { user_id: string; workspace_id: string; wanted: Mapping['role'] | null; present: Row | null }>();
  const pairOf = (userId: string, workspaceId: string) => {
    const key = `${workspaceId} ${userId}`;
    const pair = found.get(key) ?? { user_id: userId, workspace_id: workspaceId, wanted: null, present: null };
    found.set(key, pair);
    return pair;
  };
  for (const row of rows) {
    if (row.source === 'membership') pairOf(row.user_id, row.id ?? '').present = row;
    if (row.source !== 'group' || deactivated.has(row.user_id)) continue;
    for (const { workspace_id: workspaceId, role } of mappingsOf.get(row.id ?? '') ?? []) {
      const pair = pairOf(row.user_id, workspaceId);
      if (pair.wanted === null || roles.indexOf(role) > roles.indexOf(pair.wanted)) pair.wanted = role;
    }
  }
  const keys = [...found.keys()].sort();
  return keys.flatMap((key) => {
    const { present, ...pair } = found.get(key) as NonNullable<ReturnType<typeof found.get>>;
    if (present && !(present.by_group && present.role !== pair.wanted)) return [];
    return [{ ...pair, current: present?.role ?? null }];
  });
}

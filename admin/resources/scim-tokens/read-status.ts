import * as v from 'valibot';
import { hourMs } from '../../../core/contract/values/time/durations.ts';
import { type AuditEntry, auditEntries } from '../../audit/entity.ts';
import { executeBound } from '../../db/execute-bound.ts';
import type { EntityManager } from '../../db/open-database.ts';

const count = v.number();

export const statusReply = v.strictObject({
  object: v.literal('scim-status'),
  /** Accurate to the minute; null: no token was used. */
  last_request_at: v.nullable(v.string()),
  /** `provisioned`: written by a directory. */
  users: v.strictObject({ total: count, active: count, provisioned: count }),
  /** `mapped`: gives a role in a workspace. `members` counts a user once per group. */
  groups: v.strictObject({ total: count, mapped: count, members: count }),
  changes: v.strictObject({ last_minute: count, last_hour: count }),
  /** Refused changes. `last` is the newest one of the last hour. */
  refusals: v.strictObject({
    last_hour: count,
    last: v.nullable(
      v.strictObject({
        at: v.string(),
        method: v.string(),
        uri: v.string(),
        status: count,
        code: v.nullable(v.string()),
        request_id: v.string(),
      }),
    ),
  }),
  /** Jobs that create API keys of new members. */
  jobs: v.strictObject({ waiting: count, failing: count }),
});

type Counts = Readonly<
  Record<'users' | 'active' | 'provisioned' | 'groups' | 'mapped' | 'members' | 'waiting' | 'failing', number>
> & { readonly last_request_at: Date | string | null };

type Activity = Readonly<Record<'last_minute' | 'last_hour' | 'refused', number>>;

/** Returns the numbers of users and groups that directories have written, and their rate of writes from the audit log. */
export async function readStatus(
  em: EntityManager,
  organisationId: string,
  now: number,
): Promise<v.InferOutput<typeof statusReply>> {
  const [counts] = await executeBound<Counts>(
    em,
    `select
       u.users, u.active, u.provisioned, j.waiting, j.failing,
       (select count(*)::int from scim_groups where organisation_id = $1) as groups,
       (select count(distinct group_id)::int from scim_group_workspaces where organisation_id = $1) as mapped,
       (select count(*)::int from scim_group_members where organisation_id = $1) as members,
       (select max(last_used_at) from scim_tokens where organisation_id = $1) as last_request_at
     from
       (select count(*)::int as users, count(*) filter (where deactivated_at is null)::int as active,
          count(user_name)::int as provisioned from users where organisation_id = $1) u,
       (select count(*)::int as waiting, count(*) filter (where attempts > 0)::int as failing
          from jobs where organisation_id = $1 and kind = 'provision-user-keys') j`,
    [organisationId],
  );
  const hourAgo = new Date(now - hourMs);
  const uri = `/v_/scim/${organisationId}/%`;
  const [activity] = await executeBound<Activity>(
    em,
    `select count(*) filter (where response_status_code < 400)::int as last_hour,
       count(*) filter (where response_status_code < 400 and created_at > $3)::int as last_minute,
       count(*) filter (where response_status_code >= 400)::int as refused
     from audit_entries where organisation_id = $1 and created_at > $2 and uri like $4`,
    [organisationId, hourAgo, new Date(now - 60_000), uri],
  );
  const refused = { organisationId, createdAt: { $gt: hourAgo }, uri: { $like: uri }, responseStatusCode: { $gte: 400 } };
  const last = await em.findOne(auditEntries, refused, { orderBy: { createdAt: 'desc' } });
  if (!counts || !activity) throw new Error('an aggregate returned no row');
  const { users, active, provisioned, groups, mapped, members, waiting, failing, last_request_at: usedAt } = counts;
  return {
    object: 'scim-status',
    last_request_at: usedAt === null ? null : new Date(usedAt).toISOString(),
    users: { total: users, active, provisioned },
    groups: { total: groups, mapped, members },
    changes: { last_minute: activity.last_minute, last_hour: activity.last_hour },
    refusals: { last_hour: activity.refused, last: last && toRefusal(last) },
    jobs: { waiting, failing },
  };
}

function toRefusal({ createdAt, method, uri, responseStatusCode: status, errorCode, requestId }: AuditEntry) {
  return { at: createdAt.toISOString(), method, uri, status, code: errorCode ?? null, request_id: requestId };
}

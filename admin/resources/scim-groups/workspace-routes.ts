import * as v from 'valibot';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { requireMemberships, requireRank } from '../../access/require-rank.ts';
import { findPage } from '../../db/find-page.ts';
import type { AdminCall } from '../../http/admin-call.ts';
import { invalid, notFound, unknownReference } from '../../http/errors.ts';
import { searchIn } from '../../http/filters/search-in.ts';
import { pageOf } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import type { Change } from '../../publish/write-change.ts';
import { organisations } from '../organisations/entity.ts';
import { scimSettings } from '../organisations/scim-settings.ts';
import { followGroups } from '../scim-users/follow-groups.ts';
import { workspaces } from '../workspaces/entity.ts';
import { scimGroups, scimGroupWorkspaces } from './entity.ts';
import { parseGroupName } from './group-name.ts';
import { addMapping } from './mappings.ts';
import { insertGroup, membersOf } from './service.ts';
import {
  groupListReply,
  groupQuery,
  mappingBody,
  mappingListReply,
  mappingQuery,
  mappingReply,
  organisationQuery,
} from './workspace-schema.ts';

const ofMappings = { tenant: 'organisation', resource: 'scim_groups' } as const;

/** Routes of administrators: which group gives a role in which workspace. */
export const scimWorkspaceRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...ofMappings,
    method: 'GET',
    path: '/scim/groups',
    scopes: ['organisation_settings.read'],
    action: 'list',
    summary: 'List the groups of the directory by name',
    reply: groupListReply,
    query: groupQuery,
    body: null,
    async handle({ em, organisationId, query }) {
      const page = pageNumber(query);
      const where = { organisationId, ...searchIn(query.search, 'displayName') };
      const [rows, total] = await findPage(em, scimGroups, where, {
        ...pageOf({ ...query, current_page: page }),
        orderBy: { displayName: 'asc', id: 'asc' },
      });
      const groups = rows.map(({ id, displayName: name, externalId, createdAt }) => ({
        id,
        name,
        external_id: externalId ?? null,
        created_at: createdAt.toISOString(),
      }));
      return { groups, total_count: total, page, page_size: query.page_size };
    },
  }),
  defineRoute({
    ...ofMappings,
    method: 'GET',
    path: '/scim/workspaces',
    scopes: ['organisation_settings.read'],
    action: 'list',
    summary: 'List which group gives a role in which workspace',
    reply: mappingListReply,
    query: mappingQuery,
    body: null,
    async handle({ em, organisationId, query }) {
      const { workspace_id: workspaceId, scim_group_id: groupId, role } = query;
      const shown = { page: pageNumber(query), page_size: query.page_size };
      if (workspaceId !== undefined && !isUuid(workspaceId)) return { mappings: [], total_count: 0, ...shown };
      const where = {
        organisationId,
        ...(workspaceId === undefined ? {} : { workspaceId }),
        ...(groupId === undefined ? {} : { groupId }),
        ...(role === undefined ? {} : { role }),
      };
      const [rows, total] = await findPage(em, scimGroupWorkspaces, where, {
        ...pageOf({ ...query, current_page: shown.page }),
        orderBy: { createdAt: 'asc', id: 'asc' },
      });
      const groups = await em.find(scimGroups, { organisationId, id: { $in: rows.map((row) => row.groupId) } });
      const nameOf = (id: string) => groups.find((group) => group.id === id)?.displayName ?? '';
      return { mappings: rows.map((row) => toReply(row, nameOf(row.groupId))), total_count: total, ...shown };
    },
  }),
  defineRoute({
    ...ofMappings,
    method: 'POST',
    path: '/scim/workspaces',
    scopes: ['organisation_settings.update'],
    action: 'create',
    summary: 'Give the members of a group a role in a workspace; a repetition returns the existing mapping',
    reply: mappingReply,
    query: organisationQuery,
    body: mappingBody,
    handle: (call) => call.write((change) => createMapping(change, call)),
  }),
  defineRoute({
    ...ofMappings,
    method: 'DELETE',
    path: '/scim/workspaces/:scimWorkspaceGroupId',
    hasNoVersion: true,
    scopes: ['organisation_settings.update'],
    action: 'delete',
    summary: 'Unlink a group from a workspace; members stay',
    reply: v.strictObject({ success: v.literal(true) }),
    query: organisationQuery,
    body: null,
    async handle(call) {
      await call.write(async (change) => {
        const { organisationId } = call;
        const id = call.params.scimWorkspaceGroupId ?? '';
        requireRank(call.actor, 'admin');
        const row = isUuid(id) ? await change.tx.findOne(scimGroupWorkspaces, { id, organisationId }) : null;
        if (!row) throw notFound('Mapping');
        change.tx.remove(row);
        await change.tx.flush();
        // The memberships become those of an administrator, unless another group gives one.
        await change.tx.execute(
          `update workspace_members p set by_group = false, revision = revision + 1
           where p.organisation_id = ? and p.workspace_id = ? and p.by_group
             and p.user_id in (select user_id from scim_group_members where group_id = ?)
             and not exists (
               select 1 from scim_group_members m join scim_group_workspaces w on w.group_id = m.group_id
               where m.user_id = p.user_id and w.workspace_id = p.workspace_id)`,
          [organisationId, row.workspaceId, row.groupId],
          'run',
        );
        change.about(row);
      });
      return { success: true };
    },
  }),
];

/** Throws AB01 if the group has another role elsewhere, or a name that itself stands for a workspace. */
async function createMapping(change: Change, call: AdminCall<unknown, v.InferOutput<typeof mappingBody>>) {
  const { organisationId, actor, body, services } = call;
  const { tx } = change;
  const making = { apiKeyPepper: services.apiKeyPepper, now: services.clock.now() };
  const named = isUuid(body.workspace_id) ? { id: body.workspace_id } : { slug: body.workspace_id };
  const workspace = await tx.findOne(workspaces, { organisationId, status: 'active', ...named });
  if (!workspace) throw unknownReference('workspace_id', 'Workspace');
  requireRank(actor, 'admin');
  await requireMemberships(tx, actor, [{ id: workspace.id, role: body.role }]);
  const group = await groupOf(change, organisationId, body, making.now);
  const existing = await tx.find(scimGroupWorkspaces, { organisationId, groupId: group.id });
  const other = existing.find((one) => one.role !== body.role);
  if (other) throw invalid(`role: this group already has the role ${other.role}. A group has one role in all of its workspaces`);
  const same = existing.find((one) => one.workspaceId === workspace.id);
  const options = { byName: false, madeWorkspace: false, now: making.now };
  const row = same ?? addMapping(change, group, workspace.id, body.role, options);
  await tx.flush();
  change.about(row);
  const affected = async () => ({ userIds: await membersOf(tx, group), workspaceIds: [workspace.id] });
  if (!same) await followGroups(change, organisationId, await affected(), making);
  return toReply(row, group.displayName);
}

async function groupOf(
  change: Change,
  organisationId: string,
  { scim_group_id: id, scim_group_name: name }: { scim_group_id?: string | undefined; scim_group_name?: string | undefined },
  now: number,
) {
  const { tx } = change;
  const group = await tx.findOne(scimGroups, { organisationId, ...(id === undefined ? { displayName: name ?? '' } : { id }) });
  if (group) return group;
  if (name === undefined) throw unknownReference('scim_group_id', 'Group');
  const { authSettings } = await tx.findOneOrFail(organisations, { id: organisationId });
  if (parseGroupName(name, scimSettings(authSettings ?? {}))) {
    throw invalid('scim_group_name: a name of this pattern stands for a workspace and a role. Choose another name');
  }
  return insertGroup(change, organisationId, { displayName: name }, now);
}

function toReply(row: { id: string; workspaceId: string; groupId: string; role: 'admin' | 'manager' | 'member' }, name: string) {
  return { id: row.id, workspace_id: row.workspaceId, scim_group: name, scim_group_id: row.groupId, role: row.role };
}

function pageNumber(query: { page?: number | undefined; current_page?: number | undefined }): number {
  return query.current_page ?? query.page ?? 0;
}

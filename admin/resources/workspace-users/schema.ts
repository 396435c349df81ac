import * as v from 'valibot';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { organisationRoles, workspaceRoles } from '../../http/caller/actor.ts';
import { id, pageEntries, tenantEntries } from '../../http/request/schemas.ts';
import { email } from '../../identity/schema.ts';

const role = oneOf(workspaceRoles);

export const memberQuery = v.strictObject(tenantEntries);
export const listQuery = v.strictObject({
  ...tenantEntries,
  ...pageEntries,
  role: v.optional(role),
  email: v.optional(email),
});
export type ListQuery = v.InferOutput<typeof listQuery>;

/** Users to add to a workspace, as ids or with a role. Without a role they become members. */
export const newMembers = v.pipe(
  v.array(
    v.union(
      [
        v.pipe(
          id,
          v.transform((userId) => ({ id: userId, role: 'member' as const })),
        ),
        v.strictObject({ id, role: v.optional(role, 'member') }),
      ],
      'the id of a user, or an object with id and role, is expected',
    ),
  ),
  v.maxLength(100, 'at most 100 users'),
);
export type NewMembers = v.InferOutput<typeof newMembers>;

export const addBody = v.strictObject({ ...tenantEntries, users: v.pipe(newMembers, v.minLength(1, 'at least one user')) });
export const updateBody = v.strictObject({ ...tenantEntries, role });

export const workspaceUserReply = v.strictObject({
  object: v.literal('workspace-user'),
  id: v.string(),
  first_name: v.nullable(v.string()),
  last_name: v.nullable(v.string()),
  org_role: v.picklist(organisationRoles),
  role: v.picklist(workspaceRoles),
  created_at: v.string(),
  last_updated_at: v.string(),
  status: v.literal('active'),
  workspace_id: v.string(),
  email: v.string(),
  /** Scopes of the user in the workspace. */
  scopes: v.array(v.string()),
  settings: v.strictObject({}),
});
export type WorkspaceUserReply = v.InferOutput<typeof workspaceUserReply>;

export const workspaceUserListReply = v.strictObject({
  total: v.number(),
  object: v.literal('list'),
  data: v.array(workspaceUserReply),
});

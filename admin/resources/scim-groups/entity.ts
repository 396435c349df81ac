import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A group of a directory. */
export const scimGroups = defineEntity({
  name: 'ScimGroup',
  tableName: 'scim_groups',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    /** Unique in the organisation, ignoring case. */
    displayName: p.text(),
    /** The id of the directory. */
    externalId: p.text().nullable(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change, also of the members; the `etag`. */
    revision: p.integer().version(),
  },
});

export type ScimGroup = InferEntity<typeof scimGroups>;

/** A user in a group. Users stay in their groups while they are deactivated. */
export const scimGroupMembers = defineEntity({
  name: 'ScimGroupMember',
  tableName: 'scim_group_members',
  properties: {
    groupId: p.uuid().primary(),
    userId: p.uuid().primary(),
    organisationId: p.uuid(),
  },
});

/** The role that members of a group have in a workspace. A group has the same role in all of its workspaces. */
export const scimGroupWorkspaces = defineEntity({
  name: 'ScimGroupWorkspace',
  tableName: 'scim_group_workspaces',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    groupId: p.uuid(),
    workspaceId: p.uuid(),
    role: p.text().$type<GroupRole>(),
    /** True if the name of the group made the mapping. */
    byName: p.boolean(),
    /** True if the mapping created the workspace. */
    madeWorkspace: p.boolean(),
    createdAt: p.datetime(),
  },
});

export type ScimGroupWorkspace = InferEntity<typeof scimGroupWorkspaces>;

/** Roles that a group can give, weakest first. */
export const groupRoles = ['member', 'manager', 'admin'] as const;
export type GroupRole = (typeof groupRoles)[number];

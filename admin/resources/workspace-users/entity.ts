import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { WorkspaceRole } from '../../http/caller/actor.ts';

/** Membership of a user in a workspace. Owners and admins of the organisation can access every workspace without one. */
export const workspaceMembers = defineEntity({
  name: 'WorkspaceMember',
  tableName: 'workspace_members',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    userId: p.uuid(),
    role: p.text().$type<WorkspaceRole>(),
    /** True if a group of the directory made the membership, which then follows the group. */
    byGroup: p.boolean().onCreate(() => false),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

export type WorkspaceMember = InferEntity<typeof workspaceMembers>;

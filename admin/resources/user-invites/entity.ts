import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { OrganisationRole, WorkspaceRole } from '../../http/caller/actor.ts';

/** A workspace that the invited user joins on acceptance. */
export interface InvitedWorkspace {
  readonly id: string;
  readonly role: WorkspaceRole;
}

/** The key that acceptance creates in each of those workspaces. */
export interface InvitedKey {
  readonly scopes: readonly string[];
  readonly metadata: Record<string, string>;
}

/** An invitation by e-mail. Stores only the hash of the link's token. An expired invite may still have the status `pending`. */
export const userInvites = defineEntity({
  name: 'UserInvite',
  tableName: 'user_invites',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    /** Lower case. One invite per e-mail and organisation is pending. */
    email: p.text(),
    role: p.text().$type<OrganisationRole>(),
    workspaces: p.json().$type<InvitedWorkspace[]>(),
    apiKey: p.json().$type<InvitedKey>().nullable(),
    tokenHash: p.text(),
    status: p.text().$type<'pending' | 'accepted' | 'cancelled' | 'expired'>(),
    /** User or key that sent the invite. Null: the first start. */
    invitedBy: p.uuid().nullable(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    acceptedAt: p.datetime().nullable(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

export type UserInvite = InferEntity<typeof userInvites>;

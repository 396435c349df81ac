import * as v from 'valibot';
import type { EntityManager } from '../../db/open-database.ts';
import type { Change } from '../../publish/write-change.ts';
import { insertKey } from '../api-keys/insert-key.ts';
import { mergeRotationPolicy } from '../api-keys/rotation-policy.ts';
import { endOfLife } from '../api-keys/user-key-rules.ts';
import { provisionUserKey } from '../api-keys/user-keys.ts';
import { effectiveKeySettings } from '../organisations/key-settings.ts';
import type { User } from '../users/entity.ts';
import { insertMember, type Making } from '../workspace-users/memberships.ts';
import { workspaces } from '../workspaces/entity.ts';
import type { InvitedWorkspace, UserInvite } from './entity.ts';

export const keyReply = v.strictObject({
  workspace_id: v.string(),
  id: v.string(),
  key: v.string(),
  object: v.literal('api-key'),
});

/**
 * Returns the memberships that acceptance creates. Workspaces that were deleted in the meantime are left out. A member whose invite names no
 * workspace joins the default workspace. Owners and admins can use all workspaces anyway.
 */
export async function invitedMemberships(
  em: EntityManager,
  { organisationId, role, workspaces: named }: Pick<UserInvite, 'organisationId' | 'role' | 'workspaces'>,
): Promise<InvitedWorkspace[]> {
  const joined = named.length === 0 && role === 'member' ? { isDefault: true } : { id: { $in: named.map(({ id }) => id) } };
  const there = await em.find(workspaces, { organisationId, ...joined, status: 'active' });
  return there.map(({ id }) => named.find((one) => one.id === id) ?? { id, role: 'member' });
}

/** Adds a new user to the workspaces of an invite, and returns the keys that come with it. */
export async function joinWorkspaces(change: Change, user: User, invite: UserInvite, making: Making) {
  const { organisationId, apiKey } = invite;
  const keys: v.InferOutput<typeof keyReply>[] = [];
  for (const { id: workspaceId, role } of await invitedMemberships(change.tx, invite)) {
    const membership = { organisationId, workspaceId, userId: user.id };
    await insertMember(change, membership, role, making.now);
    if (!apiKey) {
      const made = await provisionUserKey(change, making.apiKeyPepper, membership);
      if (made) keys.push({ workspace_id: workspaceId, id: made.row.id, key: made.text, object: 'api-key' });
      continue;
    }
    // The key settings of the workspace apply to this key too.
    const settings = await effectiveKeySettings(change.tx, organisationId, workspaceId);
    if (settings.countMax === 0) continue;
    const now = new Date();
    const made = insertKey(change, making.apiKeyPepper, {
      ...membership,
      ...mergeRotationPolicy(null, null, settings.rotationPeriodDays, now),
      type: 'workspace-user',
      name: 'Personal key',
      scopes: [...apiKey.scopes],
      defaultMetadata: apiKey.metadata,
      defaultConfigId: settings.defaultConfigId,
      creationMode: 'auto',
      expiresAt: endOfLife(settings, undefined, now),
    });
    keys.push({ workspace_id: workspaceId, id: made.row.id, key: made.text, object: 'api-key' });
  }
  return keys;
}

import * as v from 'valibot';
import type { Change } from '../../publish/write-change.ts';
import { insertKey } from '../api-keys/insert-key.ts';
import { mergeRotationPolicy } from '../api-keys/rotation-policy.ts';
import { endOfLife } from '../api-keys/user-key-rules.ts';
import { provisionUserKey } from '../api-keys/user-keys.ts';
import { effectiveKeySettings } from '../organisations/key-settings.ts';
import type { User } from '../users/entity.ts';
import { insertMember, type Making } from '../workspace-users/memberships.ts';
import { workspaces } from '../workspaces/entity.ts';
import type { UserInvite } from './entity.ts';

export const keyReply = v.strictObject({
  workspace_id: v.string(),
  id: v.string(),
  key: v.string(),
  object: v.literal('api-key'),
});

/**
 * Adds a new user to the workspaces of an invite, and returns the keys that come with it. Workspaces that were deleted in the meantime
 * are left out.
 */
export async function joinWorkspaces(change: Change, user: User, invite: UserInvite, making: Making) {
  const { organisationId, apiKey } = invite;
  const ids = invite.workspaces.map((membership) => membership.id);
  // An invited member without named workspaces joins the default workspace. Owners and admins can use all workspaces anyway.
  const joined = ids.length === 0 && invite.role === 'member' ? { isDefault: true } : { id: { $in: ids } };
  const there = await change.tx.find(workspaces, { organisationId, ...joined, status: 'active' });
  const keys: v.InferOutput<typeof keyReply>[] = [];
  for (const workspace of there) {
    const membership = { organisationId, workspaceId: workspace.id, userId: user.id };
    const role = invite.workspaces.find((one) => one.id === workspace.id)?.role ?? 'member';
    await insertMember(change, membership, role, making.now);
    if (!apiKey) {
      const made = await provisionUserKey(change, making.apiKeyPepper, membership);
      if (made) keys.push({ workspace_id: workspace.id, id: made.row.id, key: made.text, object: 'api-key' });
      continue;
    }
    // The key settings of the workspace apply to this key too.
    const settings = await effectiveKeySettings(change.tx, organisationId, workspace.id);
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
    keys.push({ workspace_id: workspace.id, id: made.row.id, key: made.text, object: 'api-key' });
  }
  return keys;
}

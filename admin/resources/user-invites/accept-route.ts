import * as v from 'valibot';
import { AdminError, invalid } from '../../http/errors.ts';
import { definePublicRoute } from '../../http/public-route.ts';
import { hashOf } from '../../identity/one-time-secret.ts';
import { hashPassword } from '../../identity/passwords.ts';
import { acceptBody, signedInEntries } from '../../identity/schema.ts';
import type { Change } from '../../publish/write-change.ts';
import { insertKey } from '../api-keys/insert-key.ts';
import { mergeRotationPolicy } from '../api-keys/rotation-policy.ts';
import { endOfLife } from '../api-keys/user-key-rules.ts';
import { provisionUserKey } from '../api-keys/user-keys.ts';
import { effectiveKeySettings } from '../organisations/key-settings.ts';
import { signIn } from '../sessions/sign-in.ts';
import type { User } from '../users/entity.ts';
import { insertUser } from '../users/service.ts';
import { insertMember, type Making } from '../workspace-users/memberships.ts';
import { workspaces } from '../workspaces/entity.ts';
import { type UserInvite, userInvites } from './entity.ts';
import { isStillGranted } from './service.ts';

const keyReply = v.strictObject({ workspace_id: v.string(), id: v.string(), key: v.string(), object: v.literal('api-key') });

/**
 * Accepts an invite: creates the user, adds them to their workspaces, and signs them in. Works once, and only while the sender of
 * the invite may still send it.
 */
export const acceptInviteRoute = definePublicRoute({
  method: 'POST',
  path: '/auth/invites/accept',
  resource: 'user_invites',
  action: 'accept',
  summary:
    'Accept an invite with the token of its link and set a password; only this reply contains the keys that come with the invite',
  reply: v.strictObject({ ...signedInEntries, api_keys: v.array(keyReply) }),
  body: acceptBody,
  async handle(call) {
    const { body, services } = call;
    const now = services.clock.now();
    const where = { tokenHash: hashOf(body.token), status: 'pending' as const, expiresAt: { $gt: new Date(now) } };
    const invite = await call.em.findOne(userInvites, where);
    if (!invite) throw isOver();
    if (body.password.toLowerCase() === invite.email) throw invalid('password: must not be the e-mail address');
    const { organisationId } = invite;
    if (!(await isStillGranted(call.em, invite, now))) {
      call.auditRefusal({ organisationId, userId: null }, 404, 'AB08');
      throw isOver();
    }
    const passwordHash = await hashPassword(body.password);
    return call.write({ organisationId, userId: null }, async (change) => {
      const row = await change.tx.findOne(userInvites, { ...where, id: invite.id, organisationId });
      // Checked again, because hashing takes time.
      if (!row || !(await isStillGranted(change.tx, row, now))) throw isOver();
      row.status = 'accepted';
      row.acceptedAt = new Date(now);
      // If two requests accept the invite concurrently, its revision lets one succeed.
      await change.tx.flush();
      const { email, role } = row;
      const sent = { organisationId, email, role, firstName: body.first_name, lastName: body.last_name, passwordHash };
      const user = await insertUser(change, sent, now);
      const keys = await joinWorkspaces(change, user, row, { apiKeyPepper: services.apiKeyPepper, now });
      const signedIn = await signIn(change, call, user);
      change.about(row.id);
      return { ...signedIn, api_keys: keys };
    });
  },
});

const isOver = () => new AdminError('AB08', 'This invite has expired or was used. Request a new one');

/** Workspaces that were deleted in the meantime are left out. */
async function joinWorkspaces(change: Change, user: User, invite: UserInvite, making: Making) {
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

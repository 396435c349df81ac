import * as v from 'valibot';
import { AdminError, forbidden, invalid } from '../../http/errors.ts';
import { definePublicRoute } from '../../http/public-route.ts';
import { hashOf, secretIn } from '../../identity/one-time-secret.ts';
import { hashPassword } from '../../identity/passwords.ts';
import { acceptBody, pendingReply, signedInEntries } from '../../identity/schema.ts';
import { signInWithPassword } from '../sessions/sign-in-with-password.ts';
import { mayUsePassword } from '../users/may-use-password.ts';
import { insertUser } from '../users/service.ts';
import { userInvites } from './entity.ts';
import { joinWorkspaces, keyReply } from './join-workspaces.ts';
import { isStillGranted, markAccepted } from './service.ts';

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
  reply: v.variant('object', [
    v.strictObject({ ...signedInEntries, api_keys: v.array(keyReply) }),
    v.strictObject({ ...pendingReply.entries, api_keys: v.array(keyReply) }),
  ]),
  body: acceptBody,
  async personOf(em, { body }) {
    const token = secretIn(body, 'token');
    const invite = token === null ? null : await em.findOne(userInvites, { tokenHash: hashOf(token) });
    return invite && { organisationId: invite.organisationId, userId: null };
  },
  async handle(call) {
    const { body, services } = call;
    const now = services.clock.now();
    const where = { tokenHash: hashOf(body.token), status: 'pending' as const, expiresAt: { $gt: new Date(now) } };
    const invite = await call.em.findOne(userInvites, where);
    if (!invite) throw isOver();
    if (body.password.toLowerCase() === invite.email) throw invalid('password: must not be the e-mail address');
    const { organisationId } = invite;
    if (!(await isStillGranted(call.em, invite, now))) throw isOver();
    if (!(await mayUsePassword(call.em, invite))) {
      throw forbidden('This organisation requires single sign-on. Sign in without a password to accept the invite');
    }
    const passwordHash = await hashPassword(body.password);
    return call.write({ organisationId, userId: null }, async (change) => {
      const row = await change.tx.findOne(userInvites, { ...where, id: invite.id, organisationId });
      // Checked again, because hashing takes time.
      if (!row || !(await isStillGranted(change.tx, row, now))) throw isOver();
      await markAccepted(change.tx, row, now);
      const { email, role } = row;
      const sent = { organisationId, email, role, firstName: body.first_name, lastName: body.last_name, passwordHash };
      const user = await insertUser(change, sent, now);
      change.by(user);
      const keys = await joinWorkspaces(change, user, row, { apiKeyPepper: services.apiKeyPepper, now });
      const signedIn = await signInWithPassword(change, call, user);
      change.about(row);
      return { ...signedIn, api_keys: keys };
    });
  },
});

const isOver = () => new AdminError('AB08', 'This invite has expired or was used. Request a new one');

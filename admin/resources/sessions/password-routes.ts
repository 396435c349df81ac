import { TooManyRequests } from '../../http/caller/rate-limit.ts';
import { AdminError } from '../../http/errors.ts';
import { definePublicRoute, type PublicRoute } from '../../http/public-route.ts';
import { findLink, mailLink, useLink, userOfLink } from '../../identity/links.ts';
import { hashPassword } from '../../identity/passwords.ts';
import { forgotBody, nothing, resetBody, verifyBody } from '../../identity/schema.ts';
import { endSessions } from '../../identity/sessions.ts';
import { users } from '../users/entity.ts';
import { mayRequestPassword } from '../users/may-use-password.ts';

const linkIsOver = () => new AdminError('AB08', 'This link has expired or was used. Request a new one');

/** Routes for forgotten passwords and e-mail verification, with single-use links. */
export const passwordRoutes: readonly PublicRoute[] = [
  definePublicRoute({
    method: 'POST',
    path: '/auth/password/forgot',
    resource: 'users',
    action: 'forgot_password',
    summary:
      'Request a mail with a link to set a new password, not for single sign-on; the reply does not show whether the user exists',
    reply: nothing,
    body: forgotBody,
    async handle(call) {
      const { email, organisation_id } = call.body;
      const { attempts, mailer } = call.services;
      // The attempt is never removed, because it limits mails to one address and guesses of addresses.
      if (!attempts.begin(`forgot ${email}`, call.clientIp)) throw new TooManyRequests(60);
      if (!mailer.on) return {};
      call.afterwards(async () => {
        const where = { email, ...(organisation_id === undefined ? {} : { organisationId: organisation_id }) };
        for (const user of await call.em.find(users, where, { limit: 5, populate: ['passwordHash'] })) {
          if (!(await mayRequestPassword(call.em, user))) continue;
          await call.write({ organisationId: user.organisationId, userId: user.id }, async (change) => {
            change.about(user);
            await mailLink(change.tx, call.services, user, 'set-password');
          });
          mailer.wake();
        }
      });
      return {};
    },
  }),
  definePublicRoute({
    method: 'POST',
    path: '/auth/password/reset',
    resource: 'users',
    action: 'reset_password',
    summary: 'Set a password with the token of a link; ends all sessions',
    reply: nothing,
    body: resetBody,
    personOf: (em, sent) => userOfLink(em, 'set-password', sent),
    async handle(call) {
      const { token, password } = call.body;
      const now = call.services.clock.now();
      const link = await findLink(call.em, 'set-password', token, now);
      if (!link) throw linkIsOver();
      const passwordHash = await hashPassword(password);
      await call.write({ organisationId: link.organisationId, userId: link.userId }, async (change) => {
        const user = await change.tx.findOne(users, { id: link.userId, organisationId: link.organisationId });
        if (!user || !(await useLink(change.tx, link, now))) throw linkIsOver();
        if (password.toLowerCase() === user.email)
          throw new AdminError('AB01', 'password: must not be the e-mail address', ['password: must not be the e-mail address']);
        user.passwordHash = passwordHash;
        user.lastUpdatedAt = new Date(now);
        await endSessions(change.tx, user, null);
        change.about(user);
      });
      return {};
    },
  }),
  definePublicRoute({
    method: 'POST',
    path: '/auth/verify-email',
    resource: 'users',
    action: 'verify_email',
    summary: 'Confirm an e-mail address with the token of a link',
    reply: nothing,
    body: verifyBody,
    personOf: (em, sent) => userOfLink(em, 'verify-email', sent),
    async handle(call) {
      const now = call.services.clock.now();
      const link = await findLink(call.em, 'verify-email', call.body.token, now);
      if (!link) throw linkIsOver();
      await call.write({ organisationId: link.organisationId, userId: link.userId }, async (change) => {
        const user = await change.tx.findOne(users, { id: link.userId, organisationId: link.organisationId });
        if (!user || !(await useLink(change.tx, link, now))) throw linkIsOver();
        user.emailVerifiedAt = new Date(now);
        change.about(user);
      });
      return {};
    },
  }),
];

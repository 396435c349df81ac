import type * as v from 'valibot';
import type { AdminCall } from '../../http/admin-call.ts';
import { TooManyRequests } from '../../http/caller/rate-limit.ts';
import { forbidden, invalid } from '../../http/errors.ts';
import { endLinks } from '../../identity/links.ts';
import { hashPassword, verifyPassword } from '../../identity/passwords.ts';
import type { changePasswordBody } from '../../identity/schema.ts';
import { endSessions } from '../../identity/sessions.ts';
import { users } from '../users/entity.ts';

type Call = AdminCall<unknown, v.InferOutput<typeof changePasswordBody>>;

/**
 * Changes the password of a signed-in user. Ends their other sessions and links that set a password. The old password is required, and
 * attempts are rate limited as at sign-in, so that an unattended session cannot become an account takeover.
 */
export async function changePassword(call: Call, userId: string): Promise<void> {
  const { body, em, organisationId, services, actor } = call;
  const user = await em.findOneOrFail(users, { id: userId, organisationId }, { populate: ['passwordHash'] });
  if (!user.passwordHash) throw forbidden('This user has no password. They sign in at an identity provider');
  const succeeded = services.attempts.begin(user.email, `session ${actor.keyId}`);
  if (!succeeded) throw new TooManyRequests(60);
  let wrong = false;
  try {
    if (!(await verifyPassword(body.current_password, user.passwordHash))) {
      wrong = true;
      throw forbidden('current_password: wrong password');
    }
    if (body.new_password.toLowerCase() === user.email) throw invalid('new_password: must not be the e-mail address');
    const passwordHash = await hashPassword(body.new_password);
    await call.write(async ({ tx, about }) => {
      const row = await tx.findOneOrFail(users, { id: userId, organisationId });
      row.passwordHash = passwordHash;
      row.lastUpdatedAt = new Date(services.clock.now());
      await endSessions(tx, row, actor.keyId);
      await endLinks(tx, row, 'set-password');
      about({ id: userId });
    });
  } finally {
    if (!wrong) succeeded();
  }
}

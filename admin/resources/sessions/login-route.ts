import * as v from 'valibot';
import { AdminError } from '../../http/errors.ts';
import { definePublicRoute } from '../../http/public-route.ts';
import { TooManyRequests } from '../../http/rate-limit.ts';
import { verifyPassword } from '../../identity/passwords.ts';
import { loginBody, signedInEntries } from '../../identity/schema.ts';
import { users } from '../users/entity.ts';
import { signIn } from './sign-in.ts';

/** The same text for every cause, so that the reply does not reveal which accounts exist. */
const refusal = 'The e-mail or the password is wrong. If several organisations have this e-mail, send organisation_id';

/** Sign-in with e-mail and password. Unknown users take the same time as known ones. */
export const loginRoute = definePublicRoute({
  method: 'POST',
  path: '/auth/login',
  resource: 'sessions',
  action: 'login',
  summary: 'Sign in with e-mail and password',
  reply: v.strictObject(signedInEntries),
  body: loginBody,
  async handle(call) {
    const { email, password, organisation_id } = call.body;
    const succeeded = call.services.attempts.begin(email, call.clientIp);
    if (!succeeded) throw new TooManyRequests(60);
    let wrong = false;
    try {
      const where = { email, ...(organisation_id === undefined ? {} : { organisationId: organisation_id }) };
      const found = await call.em.find(users, where, { limit: 2, populate: ['passwordHash'] });
      const user = found.length === 1 && found[0] ? found[0] : null;
      if (!(await verifyPassword(password, user?.passwordHash ?? null)) || !user) {
        wrong = true;
        if (user) call.auditRefusal({ organisationId: user.organisationId, userId: user.id }, 401, 'AB05');
        throw new AdminError('AB05', refusal);
      }
      const person = { organisationId: user.organisationId, userId: user.id };
      return await call.write(person, async (change) => {
        const row = await change.tx.findOne(users, { id: user.id, organisationId: user.organisationId });
        if (!row) throw new AdminError('AB05', refusal);
        return signIn(change, call, row);
      });
    } finally {
      // Errors of the service do not count as wrong guesses.
      if (!wrong) succeeded();
    }
  },
});

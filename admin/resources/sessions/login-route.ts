import * as v from 'valibot';
import { TooManyRequests } from '../../http/caller/rate-limit.ts';
import { AccessRefusal, AdminError, forbidden, invalid } from '../../http/errors.ts';
import { definePublicRoute, type PublicCall } from '../../http/public-route.ts';
import { verifyPassword } from '../../identity/passwords.ts';
import { loginBody, pendingReply, signedInEntries } from '../../identity/schema.ts';
import { beginSignIn } from '../../sign-in/begin-sign-in.ts';
import { findConnections } from '../../sign-in/find-connections.ts';
import { connectionTypes, type SsoConnection } from '../sso-connections/entity.ts';
import { users } from '../users/entity.ts';
import { mayUsePassword } from '../users/may-use-password.ts';
import { signInWithPassword } from './sign-in-with-password.ts';

/** The same text for every cause, so that the reply does not reveal which accounts exist. */
const refusal = 'The e-mail or the password is wrong. If several organisations have this e-mail, send organisation_id';

/** The connections that fit; `sso_client_id` selects one. */
const linkedReply = v.array(
  v.strictObject({ id: v.string(), sso_client_id: v.string(), name: v.string(), type: v.picklist(connectionTypes) }),
);

const authorisationReply = v.strictObject({
  /** Address of the identity provider to open in this browser. */
  url: v.string(),
  type: v.picklist(connectionTypes),
  linked_sso: linkedReply,
  object: v.literal('sso-authorization'),
});

/** For `list_connections`. */
const choiceReply = v.strictObject({ linked_sso: linkedReply, object: v.literal('sso-connections') });

/** Sign-in with e-mail and password, or with the e-mail alone through an identity provider. Unknown users take the same time as known ones. */
export const loginRoute = definePublicRoute({
  method: 'POST',
  path: '/auth/login',
  resource: 'sessions',
  action: 'login',
  summary: 'Sign in with e-mail and password; without a password, begin single sign-on. The reply names a missing second factor',
  reply: v.variant('object', [v.strictObject(signedInEntries), pendingReply, authorisationReply, choiceReply]),
  body: loginBody,
  async handle(call) {
    const { email, password, organisation_id } = call.body;
    if (password === undefined) return beginSso(call);
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
        throw new AccessRefusal('AB05', 'wrong_credentials', refusal);
      }
      const person = { organisationId: user.organisationId, userId: user.id };
      if (!(await mayUsePassword(call.em, user))) {
        call.auditRefusal(person, 403, 'AB03', { email, reason: 'sso_required' });
        throw forbidden('This organisation requires single sign-on. Sign in without a password');
      }
      return await call.write(person, async (change) => {
        const row = await change.tx.findOne(users, { id: user.id, organisationId: user.organisationId });
        if (!row) throw new AdminError('AB05', refusal);
        return signInWithPassword(change, call, row);
      });
    } finally {
      // Errors of the service do not count as wrong guesses.
      if (!wrong) succeeded();
    }
  },
});

type Call = PublicCall<v.InferOutput<typeof loginBody>>;

/** Begins single sign-on. The reply depends on the domain of the e-mail only, so it does not reveal which users exist. */
async function beginSso(call: Call) {
  const { email, organisation_id: organisationId, sso_client_id: client, return_to: returnTo = null } = call.body;
  const succeeded = call.services.attempts.begin(`sso ${email}`, call.clientIp);
  if (!succeeded) throw new TooManyRequests(60);
  if (call.origin === 'cross') {
    throw new AccessRefusal('AB03', 'cross_site', 'A sign-in must begin on a page of this service');
  }
  const found = await findConnections(call.em, { email, organisationId, client });
  const [first, ...others] = found;
  if (!first) {
    const named = client === undefined ? '' : 'sso_client_id: ';
    throw new AdminError('AB08', `${named}no single sign-on for this e-mail. Send a password, or organisation_id`);
  }
  if (others.some((one) => one.organisationId !== first.organisationId)) {
    throw invalid('organisation_id: required, because several organisations own this domain');
  }
  if (others.length > 0 && call.body.list_connections) {
    succeeded();
    return { linked_sso: found.map(toLinked), object: 'sso-connections' as const };
  }
  const url = await beginSignIn(call, first, { email, returnTo });
  succeeded();
  return { url, type: first.type, linked_sso: found.map(toLinked), object: 'sso-authorization' as const };
}

function toLinked({ slug, name, type, settings, id }: SsoConnection) {
  return { id, sso_client_id: String(settings.client_id ?? slug), name, type };
}

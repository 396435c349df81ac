import * as v from 'valibot';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { definePublicRoute, type PublicCall, type PublicRoute } from '../../http/public-route.ts';
import { RawReply } from '../../http/reply/raw-reply.ts';
import { signedInEntries } from '../../identity/schema.ts';
import { attemptIsOver, findAttempt } from '../../sign-in/attempts.ts';
import { finishSignIn } from '../../sign-in/finish-sign-in.ts';
import { finishOidc } from '../../sign-in/oidc/finish.ts';
import { auditRefusals, SignInRefusal } from '../../sign-in/refusal.ts';
import { anyoneAt } from './anyone-at.ts';
import { type SsoConnection, ssoConnections } from './entity.ts';
import { rejectedSignIn } from './rejected-page.ts';

const parameter = v.optional(v.pipe(v.string(), v.maxLength(8_192, 'at most 8,192 characters')));

/** Parameters of an authorization response. Providers may add others. */
const callbackQuery = v.objectWithRest(
  { state: v.pipe(v.string(), v.maxLength(512, 'at most 512 characters')), code: parameter, iss: parameter, error: parameter },
  v.pipe(v.string(), v.maxLength(8_192, 'at most 8,192 characters')),
);

const shared = {
  method: 'GET',
  resource: 'sessions',
  action: 'login',
  reply: v.strictObject(signedInEntries),
  alsoProduces: 'text/html',
  errorPage: rejectedSignIn,
  query: callbackQuery,
  body: null,
} as const;

/** The addresses that identity providers send browsers back to. */
export const ssoCallbackRoutes: readonly PublicRoute[] = [
  definePublicRoute({
    ...shared,
    path: '/auth/callback/:connectionId',
    summary: 'Finish a sign-in at an OpenID Connect provider; browsers are redirected, other clients get the session',
    personOf: async (em, { params }) => anyoneAt(await connectionAt(em, params.connectionId ?? '')),
    handle: (call) => finish(call, call.params.connectionId ?? null),
  }),
  definePublicRoute({
    ...shared,
    path: '/auth/callback',
    summary: 'Finish a sign-in at a connection with `shared_callback`',
    personOf: async (em, { query }) => anyoneAt(await findAttempt(em, query.state ?? '')),
    handle: (call) => finish(call, null),
  }),
];

type Call = PublicCall<undefined, v.InferOutput<typeof callbackQuery>>;

/** Browsers are redirected. `callback` is the connection whose address the provider used; null: the shared one. */
async function finish(call: Call, callback: string | null): Promise<unknown> {
  const { session, returnTo } = await sessionOf(call, callback);
  if (!call.requestHeader('accept')?.includes('text/html')) return session;
  return new RawReply('', { location: returnTo ?? '/v1/auth/signed-in' }, 303);
}

/** Throws SignInRefusal, with an audit entry if the address names a connection. */
async function refuseUnknown({ em, auditRefusal }: Call, callback: string | null): Promise<never> {
  const connection = callback === null ? null : await connectionAt(em, callback);
  if (!connection) throw attemptIsOver();
  const { organisationId, id: connectionId } = connection;
  return auditRefusals({ auditRefusal }, { organisationId, connectionId }, () => Promise.reject(attemptIsOver()));
}

async function connectionAt(em: EntityManager, id: string): Promise<SsoConnection | null> {
  return isUuid(id) ? em.findOne(ssoConnections, { id }) : null;
}

async function sessionOf(call: Call, callback: string | null) {
  const attempt = await findAttempt(call.em, call.query.state);
  if (!attempt) return refuseUnknown(call, callback);
  const { organisationId, connectionId } = attempt;
  const identity = await auditRefusals(call, { organisationId, connectionId }, async () => {
    const connection = await call.em.findOne(ssoConnections, { id: connectionId, organisationId, isEnabled: true, type: 'oidc' });
    if (!connection) throw new SignInRefusal('connection_disabled', 'This connection is disabled or was deleted');
    // Each provider has an address of its own, so that none can pass on the codes of another.
    const expected = connection.settings.shared_callback === true ? null : connectionId;
    if (callback !== expected)
      throw new SignInRefusal('invalid_response', 'The response arrived at the address of another connection');
    const sent = Object.entries(call.query).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
    return finishOidc(call, connection, attempt, Object.fromEntries(sent));
  });
  return { session: await finishSignIn(call, identity), returnTo: attempt.returnTo ?? null };
}

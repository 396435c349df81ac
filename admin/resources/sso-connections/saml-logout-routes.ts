import { html } from 'hono/html';
import * as v from 'valibot';
import type { EntityManager } from '../../db/open-database.ts';
import { definePublicRoute, type PublicCall, type PublicRoute, type Unchecked } from '../../http/public-route.ts';
import { RawReply } from '../../http/reply/raw-reply.ts';
import { emptyReply } from '../../http/reply/reply-schemas.ts';
import { readForm } from '../../http/request/read-form.ts';
import { pagesRoot, routePage } from '../../pages/layout.ts';
import { endProviderSessions } from '../../sign-in/end-sessions.ts';
import { auditRefusals, SignInRefusal } from '../../sign-in/refusal.ts';
import { isFirstUse } from '../../sign-in/saml/first-use.ts';
import { samlLogoutReplyUrl } from '../../sign-in/saml/logout.ts';
import {
  type ExpectedLogout,
  type LogoutMessage,
  type LogoutRequest,
  logoutAgeMsMax,
  readPostedLogout,
  readRedirectedLogout,
} from '../../sign-in/saml/read-logout.ts';
import { samlAddresses } from './addresses.ts';
import { anyoneAt } from './anyone-at.ts';
import type { SsoConnection } from './entity.ts';
import { findSamlConnection, samlConnectionAt } from './find-saml-connection.ts';
import { rejectedLogout } from './rejected-page.ts';
import { samlSettingsOf } from './saml-settings.ts';

const relayState = v.optional(v.pipe(v.string(), v.maxLength(512, 'at most 512 characters')), '');
const message = v.optional(v.pipe(v.string(), v.maxLength(524_288, 'at most 512 KiB')));

const shared = {
  path: '/auth/saml/logout/:connectionId',
  resource: 'sessions',
  action: 'saml_logout',
  reply: emptyReply,
  alsoProduces: 'text/html',
  errorPage: rejectedLogout,
  personOf: async (em: EntityManager, { params }: Unchecked) => anyoneAt(await samlConnectionAt(em, params.connectionId ?? '')),
} as const;

/** The address of single logout with SAML, for both bindings: requests of the provider, and its replies to ours. */
export const samlLogoutRoutes: readonly PublicRoute[] = [
  definePublicRoute({
    ...shared,
    method: 'GET',
    summary: 'End the sessions that a SAML provider has ended (redirect binding)',
    query: v.objectWithRest({ SAMLRequest: message, SAMLResponse: message, RelayState: relayState }, v.string()),
    body: null,
    handle: (call) => receive(call, call.query.RelayState, async (expected) => readRedirectedLogout(call.rawQuery, expected)),
  }),
  definePublicRoute({
    ...shared,
    method: 'POST',
    summary: 'End the sessions that a SAML provider has ended (POST binding)',
    body: v.objectWithRest({ SAMLRequest: message, SAMLResponse: message, RelayState: relayState }, v.string()),
    readBody: readForm,
    handle: (call) =>
      receive(call, call.body.RelayState, (expected) =>
        readPostedLogout(call.body.SAMLRequest ?? call.body.SAMLResponse ?? '', expected),
      ),
  }),
];

type Call = PublicCall<unknown>;

async function receive(call: Call, state: string, read: (expected: ExpectedLogout) => Promise<LogoutMessage>): Promise<RawReply> {
  const { em, params, services } = call;
  const address = params.connectionId ?? '';
  const connection = await findSamlConnection(em, address);
  const { organisationId, id: connectionId } = connection;
  const settings = samlSettingsOf(connection);
  const { logout_url: logoutUrl } = samlAddresses(services.settings, address);
  const received = await auditRefusals(call, { organisationId, connectionId }, () =>
    read({ settings, logoutUrl, now: services.clock.now() }),
  );
  // The session here ended when the user signed out, with an entry. Sessions elsewhere may not have.
  if ('isSuccess' in received) {
    if (!received.isSuccess) {
      const message = 'The identity provider could not end all sessions of a user who signed out here';
      const details = { connection_id: connectionId, reason: 'provider_error', message };
      call.auditRefusal({ organisationId, userId: null, isAnonymous: true }, 200, null, details);
    }
    return signedOutPage(received.isSuccess);
  }
  const details = { issuer: settings.idp_entity_id, subject: received.request.subject };
  await auditRefusals(call, { organisationId, connectionId, details }, () => endSessionsOf(call, connection, received.request));
  const to = await samlLogoutReplyUrl(em, services, connection, {
    ...{ requestId: received.request.id, relayState: state, address },
  });
  return to === null ? signedOutPage(true) : new RawReply('', { location: to, 'cache-control': 'no-store' }, 303);
}

function endSessionsOf(call: Call, connection: SsoConnection, request: LogoutRequest): Promise<void> {
  const { organisationId, id: connectionId, settings } = connection;
  const own = samlSettingsOf({ settings });
  return call.write({ organisationId, userId: null }, async (change) => {
    // A repeated request would end sessions that begin within the clock skew.
    if (!(await isFirstUse(change.tx, connection, `logout ${request.id}`, request.issuedAt + logoutAgeMsMax)))
      throw new SignInRefusal('replayed', 'SAML logout: this request was used before');
    await endProviderSessions(change, {
      ...{ organisationId, connectionId, issuer: own.idp_entity_id },
      ...{ subject: request.subject, providerSessions: request.sessions },
      before: new Date(request.issuedAt + own.clock_skew_seconds * 1_000),
    });
  });
}

function signedOutPage(isComplete: boolean): Promise<RawReply> {
  const body = isComplete
    ? html`<p role="status">You are signed out. You can close this page.</p>`
    : html`<p role="alert">You are signed out here, but your identity provider could not end all of its sessions. Close the browser.</p>`;
  return routePage({ title: 'Signed out', body: html`${body}<p><a href="${pagesRoot}sign-in">Sign in again</a></p>` });
}

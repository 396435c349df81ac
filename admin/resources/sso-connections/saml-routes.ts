import { html } from 'hono/html';
import * as v from 'valibot';
import { definePublicRoute, type PublicCall, type PublicRoute } from '../../http/public-route.ts';
import { RawReply } from '../../http/reply/raw-reply.ts';
import { readForm } from '../../http/request/read-form.ts';
import { signedInEntries } from '../../identity/schema.ts';
import { hidden, routePage } from '../../pages/layout.ts';
import { findAttempt } from '../../sign-in/attempts.ts';
import { finishSignIn } from '../../sign-in/finish-sign-in.ts';
import { auditRefusals, SignInRefusal } from '../../sign-in/refusal.ts';
import { finishSaml } from '../../sign-in/saml/finish.ts';
import { samlAddresses } from './addresses.ts';
import { anyoneAt } from './anyone-at.ts';
import { findSamlConnection, samlConnectionAt } from './find-saml-connection.ts';
import { refreshSoon } from './refresh-metadata.ts';
import { rejectedSignIn } from './rejected-page.ts';
import { type SamlSettings, samlSettingsOf } from './saml-settings.ts';
import { connectionSecrets } from './secrets.ts';

const responseForm = v.objectWithRest(
  {
    // The size is checked with the document, so that the refusal has an audit entry.
    SAMLResponse: v.string(),
    RelayState: v.optional(v.pipe(v.string(), v.maxLength(512, 'at most 512 characters'))),
  },
  v.string(),
);

type Call = PublicCall<v.InferOutput<typeof responseForm>>;

/** The addresses that a SAML provider is configured with. */
export const samlRoutes: readonly PublicRoute[] = [
  definePublicRoute({
    method: 'POST',
    path: '/auth/saml/callback/:connectionId',
    resource: 'sessions',
    action: 'login',
    summary:
      'Finish a sign-in at a SAML provider (assertion consumer service); browsers are redirected, other clients get the session',
    reply: v.strictObject(signedInEntries),
    alsoProduces: 'text/html',
    errorPage: rejectedSignIn,
    body: responseForm,
    readBody: readForm,
    personOf: async (em, { params }) => anyoneAt(await samlConnectionAt(em, params.connectionId ?? '')),
    handle: receive,
  }),
  definePublicRoute({
    method: 'GET',
    path: '/auth/saml/metadata/:connectionId',
    resource: 'sso_connections',
    action: 'read',
    summary: 'The SAML metadata of this service, for the identity provider of a connection',
    reply: v.string(),
    alsoProduces: 'application/samlmetadata+xml',
    body: null,
    async handle({ em, params, services }) {
      const id = params.connectionId ?? '';
      const connection = await findSamlConnection(em, id);
      const { generateServiceProviderMetadata } = await import('@node-saml/node-saml');
      const secrets = await connectionSecrets.open(em, services.vault, connection);
      const { saml_key: key = '', next_saml_key: nextKey = key } = secrets;
      const own = samlSettingsOf(connection);
      const { acs_url: callbackUrl, entity_id: issuer, logout_url: logoutCallbackUrl } = samlAddresses(services.settings, id);
      const xml = generateServiceProviderMetadata({
        ...{ issuer, callbackUrl, identifierFormat: null, wantAssertionsSigned: own.want_assertion_signed },
        // The provider encrypts with the newest key. Any of them signs until the rotation is over.
        ...{ decryptionPvk: nextKey, decryptionCert: own.next_certificate ?? own.own_certificate, logoutCallbackUrl },
        ...(own.sign_requests
          ? { privateKey: key, publicCerts: certificatesOf(own), signatureAlgorithm: 'sha256' as const }
          : {}),
      });
      // The library lists the form binding only. Most providers prefer the redirect.
      const posted = '<SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"';
      const both = xml.replace(
        posted,
        `<SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${logoutCallbackUrl}"/>${posted}`,
      );
      return new RawReply(both, { 'content-type': 'application/samlmetadata+xml; charset=utf-8' });
    },
  }),
];

/** The current certificate is the last one. Keycloak keeps one only, and takes the last. */
function certificatesOf({ own_certificate: current, next_certificate: next, previous_certificate: previous }: SamlSettings) {
  return [next, previous, current].flatMap((certificate) => certificate ?? []);
}

async function receive(call: Call): Promise<unknown> {
  // Browsers send the cookie of the sign-in only with requests from our own pages, so one of them sends the form once more.
  if (call.origin === 'cross') return resendPage(call.body);
  const { session, returnTo } = await signedIn(call);
  if (!call.requestHeader('accept')?.includes('text/html')) return session;
  return new RawReply('', { location: returnTo ?? '/v1/auth/account' }, 303);
}

async function signedIn(call: Call) {
  const { em, params, body } = call;
  const address = params.connectionId ?? '';
  const connection = await findSamlConnection(em, address);
  const { organisationId, id: connectionId } = connection;
  const attempt = body.RelayState === undefined ? null : await findAttempt(em, body.RelayState);
  const identity = await auditRefusals(call, { organisationId, connectionId }, async () => {
    if (attempt !== null && attempt.connectionId !== connectionId) {
      throw new SignInRefusal('invalid_response', 'SAML: the response arrived at the address of another connection');
    }
    return finishSaml(call, connection, attempt, { response: body.SAMLResponse, address });
  }).catch((error: unknown) => {
    // The provider may have replaced its certificate.
    if (error instanceof SignInRefusal && ['invalid_response', 'metadata_expired'].includes(error.reason))
      refreshSoon(call, connection);
    throw error;
  });
  return { session: await finishSignIn(call, identity), returnTo: attempt?.returnTo ?? null };
}

function resendPage({ SAMLResponse, RelayState }: v.InferOutput<typeof responseForm>): Promise<RawReply> {
  const body = html`<form method="post" id="resend">
${hidden('SAMLResponse', SAMLResponse)}${RelayState === undefined ? '' : hidden('RelayState', RelayState)}
<p>Your identity provider has confirmed who you are.</p>
<p><button>Continue</button></p>
</form>`;
  return routePage({ title: 'Sign in', body, scripts: ['resend.js'] });
}

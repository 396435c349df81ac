import * as v from 'valibot';
import type { PublicCall } from '../../http/public-route.ts';
import { email } from '../../identity/schema.ts';
import { samlAddresses } from '../../resources/sso-connections/addresses.ts';
import type { SignInAttempt, SsoConnection } from '../../resources/sso-connections/entity.ts';
import { type SamlSettings, samlSettingsOf } from '../../resources/sso-connections/saml-settings.ts';
import { connectionSecrets } from '../../resources/sso-connections/secrets.ts';
import { takeAttempt } from '../attempts.ts';
import type { VerifiedIdentity } from '../finish-sign-in.ts';
import { SignInRefusal } from '../refusal.ts';
import { samlAttempt } from './begin.ts';
import { isFirstUse } from './first-use.ts';
import { hintOf } from './logout.ts';
import type { Assertion } from './read-assertion.ts';
import { verifyResponse } from './verify-response.ts';

type Call = Pick<PublicCall<never>, 'services' | 'em' | 'requestHeader'>;

/**
 * Verifies the response of a SAML provider. `attempt` null: the provider began the sign-in. `address` is the last part of the address
 * that received the response. Throws SignInRefusal.
 */
export async function finishSaml(
  call: Call,
  connection: SsoConnection,
  attempt: SignInAttempt | null,
  { response, address }: { readonly response: string; readonly address: string },
): Promise<VerifiedIdentity> {
  const { em, services } = call;
  const settings = samlSettingsOf(connection);
  requireValidMetadata(connection, services.clock.now());
  if (attempt === null && !settings.allow_idp_initiated) {
    throw new SignInRefusal(
      'attempt_expired',
      'This sign-in has expired, was used, or began at the identity provider, which this connection does not allow. Begin at this service',
    );
  }
  const data = attempt && (await takeAttempt(em, services, attempt, call.requestHeader('cookie')));
  const secrets = await connectionSecrets.open(em, services.vault, connection);
  const { saml_key: current, next_saml_key: next, previous_saml_key: previous } = secrets;
  const decryptionKeys = [current, next, previous].filter((key) => key !== undefined);
  const { acs_url: acsUrl, entity_id: entityId } = samlAddresses(services.settings, address);
  const now = services.clock.now();
  const requestId = data === null ? null : v.parse(samlAttempt, data).requestId;
  const assertion = await verifyResponse(response, { settings, acsUrl, entityId, requestId, decryptionKeys, now });
  await rememberAssertion(call, connection, assertion, now + settings.clock_skew_seconds * 1_000);
  return toIdentity(connection, settings, assertion);
}

/** The provider no longer vouches for the keys of expired metadata. Throws SignInRefusal. */
function requireValidMetadata({ metadataValidUntil: end }: SsoConnection, now: number): void {
  if (!end || end.getTime() > now) return;
  const when = end.toISOString();
  throw new SignInRefusal(
    'metadata_expired',
    `SAML: the metadata of the identity provider expired at ${when}. An administrator can save current metadata`,
  );
}

/** Throws SignInRefusal if the assertion was used. */
async function rememberAssertion(
  { services }: Call,
  connection: SsoConnection,
  { id, expiresAt }: Assertion,
  now: number,
): Promise<void> {
  const isFirst = await services.database
    .emOf(connection.organisationId)
    .transactional((tx) => isFirstUse(tx, connection, id, Math.max(expiresAt, now)));
  if (!isFirst) throw new SignInRefusal('replayed', 'SAML: this assertion was used before. Begin the sign-in again');
}

/** Usual names of attributes: plain, as object identifiers, and as in Entra ID and AD FS. */
const claims = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims';
const usual = {
  email: ['email', 'mail', 'emailAddress', 'urn:oid:0.9.2342.19200300.100.1.3', `${claims}/emailaddress`],
  first: ['firstName', 'givenName', 'first_name', 'urn:oid:2.5.4.42', `${claims}/givenname`],
  last: ['lastName', 'sn', 'surname', 'last_name', 'urn:oid:2.5.4.4', `${claims}/surname`],
  groups: [
    'groups',
    'Group',
    'memberOf',
    'urn:oid:1.3.6.1.4.1.5923.1.5.1.1',
    'http://schemas.microsoft.com/ws/2008/06/identity/claims/groups',
    'http://schemas.xmlsoap.org/claims/Group',
  ],
} as const;

/** Entra ID sends it instead of more than 150 groups. */
const groupsLink = 'http://schemas.microsoft.com/claims/groups.link';

function toIdentity(connection: SsoConnection, settings: SamlSettings, assertion: Assertion): VerifiedIdentity {
  const valuesOf = (name: string | null, names: readonly string[]) =>
    (name === null ? names : [name]).map((one) => assertion.attributes.get(one) ?? []).find((values) => values.length > 0) ?? [];
  const firstOf = (name: string | null, names: readonly string[]) => valuesOf(name, names)[0] ?? null;
  const groups = valuesOf(settings.group_attribute, usual.groups);
  const isEmail = assertion.subjectFormat.endsWith(':emailAddress');
  const address = firstOf(settings.email_attribute, usual.email) ?? (isEmail ? assertion.subject : null);
  const checked = v.safeParse(email, address);
  return {
    organisationId: connection.organisationId,
    connectionId: connection.id,
    type: 'saml',
    issuer: settings.idp_entity_id,
    subject: assertion.subject,
    subjectIsEmail: checked.success && checked.output === assertion.subject.toLowerCase(),
    email: checked.success ? checked.output : null,
    // SAML has no such statement. The e-mail counts only in a domain that the organisation owns, as its provider does.
    emailVerified: true,
    groups: groups.length === 0 && assertion.attributes.has(groupsLink) ? null : groups.slice(0, 1_000),
    firstName: firstOf(settings.first_name_attribute, usual.first)?.slice(0, 128) ?? null,
    lastName: firstOf(settings.last_name_attribute, usual.last)?.slice(0, 128) ?? null,
    providerSession: assertion.sessionIndex,
    sessionEndsAt: assertion.sessionEndsAt,
    logoutHint: JSON.stringify(hintOf(assertion)),
  };
}

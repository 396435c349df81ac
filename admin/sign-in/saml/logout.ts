import { randomUUID } from 'node:crypto';
import { escape as encode } from 'node:querystring';
import type { Profile, SAML } from '@node-saml/node-saml';
import * as v from 'valibot';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { samlAddresses } from '../../resources/sso-connections/addresses.ts';
import type { SsoConnection } from '../../resources/sso-connections/entity.ts';
import { samlSettingsOf } from '../../resources/sso-connections/saml-settings.ts';
import { connectionSecrets } from '../../resources/sso-connections/secrets.ts';
import type { Assertion } from './read-assertion.ts';

type Services = Pick<AdminServices, 'settings' | 'vault'>;

/** Attributes of the NameID. Providers find the session only if they are repeated exactly. */
const hintSchema = v.object({
  format: v.string(),
  nameQualifier: v.nullable(v.string()),
  spNameQualifier: v.nullable(v.string()),
});

/** Returns the part of an assertion that its logout needs besides subject and session. */
export function hintOf({ subjectFormat: format, nameQualifier, spNameQualifier }: Assertion): v.InferOutput<typeof hintSchema> {
  return { format, nameQualifier, spNameQualifier };
}

interface SignedIn {
  readonly subject: string;
  /** JSON of `hintOf`. */
  readonly hint: string;
  readonly providerSession: string | null;
}

/** Returns the address with a signed logout request for the provider; null if the connection has no `slo_url`. */
export async function samlLogoutUrl(
  em: EntityManager,
  services: Services,
  connection: SsoConnection,
  { subject, hint, providerSession }: SignedIn,
): Promise<string | null> {
  const { slo_url: to } = samlSettingsOf(connection);
  if (!to) return null;
  const { format, nameQualifier, spNameQualifier } = v.parse(hintSchema, JSON.parse(hint));
  const saml = await newSaml(em, services, connection, connection.id, to);
  const person = {
    ...{ nameID: subject, nameIDFormat: format === '' ? undefined : format },
    ...(nameQualifier === null ? {} : { nameQualifier }),
    ...(spNameQualifier === null ? {} : { spNameQualifier }),
    ...(providerSession === null ? {} : { sessionIndex: providerSession }),
  };
  return asSigned(await saml.getLogoutUrlAsync(person as unknown as Profile, '', {}));
}

/**
 * Returns the address that reports the end of the sessions to the provider; null if the connection has no `slo_url`. `address` is the
 * last part of the address that received the request.
 */
export async function samlLogoutReplyUrl(
  em: EntityManager,
  services: Services,
  connection: SsoConnection,
  { requestId, relayState, address }: { readonly requestId: string; readonly relayState: string; readonly address: string },
): Promise<string | null> {
  const { slo_url: sloUrl, slo_response_url: to } = samlSettingsOf(connection);
  if (!sloUrl) return null;
  const saml = await newSaml(em, services, connection, address, to ?? sloUrl);
  return asSigned(await saml.getLogoutResponseUrlAsync({ ID: requestId } as unknown as Profile, relayState, {}, true));
}

/** node-saml signs the query in one encoding and sends it in another. Providers verify the text that they receive. */
function asSigned(address: string): string {
  const url = new URL(address);
  url.search = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  return url.href;
}

/** `to`: address of the provider that the message is for. */
async function newSaml(
  em: EntityManager,
  services: Services,
  connection: SsoConnection,
  address: string,
  to: string,
): Promise<SAML> {
  const { SAML } = await import('@node-saml/node-saml');
  const own = samlSettingsOf(connection);
  const { saml_key: privateKey = '' } = await connectionSecrets.open(em, services.vault, connection);
  const { acs_url: callbackUrl, entity_id: issuer } = samlAddresses(services.settings, address);
  return new SAML({
    ...{ issuer, callbackUrl, entryPoint: own.sso_url, logoutUrl: to, idpCert: [...own.certificates] },
    ...{ privateKey, signatureAlgorithm: 'sha256' as const },
    generateUniqueId: () => `_${randomUUID()}`,
  });
}

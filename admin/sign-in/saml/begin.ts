import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { samlAddresses } from '../../resources/sso-connections/addresses.ts';
import { samlSettingsOf } from '../../resources/sso-connections/saml-settings.ts';
import { connectionSecrets } from '../../resources/sso-connections/secrets.ts';
import { beginAttempt } from '../attempts.ts';
import type { BeginSignIn } from '../begin-sign-in.ts';

/** Data of an attempt between request and response. */
export const samlAttempt = v.object({ requestId: v.string() });

/** Prepares the redirect to a SAML provider, with a signed request if the connection signs. */
export const beginSaml: BeginSignIn = async (call, connection, { returnTo }) => {
  const { SAML } = await import('@node-saml/node-saml');
  const own = samlSettingsOf(connection);
  const requestId = `_${randomUUID()}`;
  const { saml_key: key } = own.sign_requests ? await connectionSecrets.open(call.em, call.services.vault, connection) : {};
  const { acs_url: callbackUrl, entity_id: issuer } = samlAddresses(call.services.settings, connection.id);
  const saml = new SAML({
    ...{ issuer, callbackUrl, entryPoint: own.sso_url, idpCert: [...own.certificates] },
    generateUniqueId: () => requestId,
    // The provider chooses both, as its administrator configured it.
    identifierFormat: null,
    disableRequestedAuthnContext: true,
    ...(key === undefined ? {} : { privateKey: key, signatureAlgorithm: 'sha256' as const }),
  });
  const cookies = call.requestHeader('cookie');
  return async (tx) => {
    const data = { requestId } satisfies v.InferOutput<typeof samlAttempt>;
    const { state, cookie } = await beginAttempt(tx, call.services, connection, { cookies, returnTo, data });
    return { url: await saml.getAuthorizeUrlAsync(state, undefined, {}), cookie };
  };
};

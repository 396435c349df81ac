import { buildAuthorizationUrl, calculatePKCECodeChallenge, randomNonce, randomPKCECodeVerifier } from 'openid-client';
import * as v from 'valibot';
import { oidcAddresses } from '../../resources/sso-connections/addresses.ts';
import { oidcSettingsOf } from '../../resources/sso-connections/entity.ts';
import { beginAttempt } from '../attempts.ts';
import type { BeginSignIn } from '../begin-sign-in.ts';
import { asRefusal } from './as-refusal.ts';
import { oidcClient } from './client.ts';

/** Data of an attempt between both redirects. */
export const oidcAttempt = v.object({ nonce: v.string(), verifier: v.string() });

/** Prepares the redirect to an OpenID Connect provider: PKCE, nonce and state. */
export const beginOidc: BeginSignIn = async (call, connection, { email, returnTo }) => {
  const client = await asRefusal(() => oidcClient(call.em, call.services, connection));
  const own = oidcSettingsOf(connection);
  const verifier = randomPKCECodeVerifier();
  const nonce = randomNonce();
  const challenge = await calculatePKCECodeChallenge(verifier);
  const data = { nonce, verifier } satisfies v.InferOutput<typeof oidcAttempt>;
  const cookies = call.requestHeader('cookie');
  return async (tx) => {
    const { state, cookie } = await beginAttempt(tx, call.services, connection, { cookies, returnTo, data });
    // Throws for an authorization_endpoint that is missing, or is no http or https URL.
    const url = await asRefusal(async () =>
      buildAuthorizationUrl(client, {
        redirect_uri: oidcAddresses(call.services.settings, connection).redirect_uri,
        scope: own.scopes.join(' '),
        code_challenge: challenge,
        code_challenge_method: 'S256',
        ...{ state, nonce },
        ...(email === null ? {} : { login_hint: email }),
      }),
    );
    return { url: url.href, cookie };
  };
};

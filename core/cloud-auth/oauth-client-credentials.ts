import * as v from 'valibot';
import type { Credentials, ProviderAdapter } from '../contract/provider/provider.ts';
import type { SignServices, Token } from '../contract/provider/sign-services.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import type { JsonObject } from '../contract/values/json/json.ts';
import type { Maybe } from '../contract/values/maybe.ts';
import { oauthSettings } from '../provider-settings/shared-settings.ts';
import { bearerAdapter } from './bearer-adapter.ts';
import { postForToken } from './oauth-token.ts';
import { tokenKey } from './token-cache.ts';

/** The value of `provider_auth_type` that selects this. */
const authType = 'oauthClientCredentials';

/** Settings of the OAuth client that its adapter needs. */
export const oauthEntries = {
  oauth_token_endpoint: oauthSettings.oauth_token_endpoint.schema,
  oauth_client_id: oauthSettings.oauth_client_id.schema,
  oauth_scope: v.nullish(oauthSettings.oauth_scope.schema),
};

/**
 * Lets any provider authenticate by OAuth client credentials (RFC 6749 §4.4) instead of its own scheme. With `provider_auth_type:
 * oauthClientCredentials` each call carries a bearer token of the endpoint in its settings. Tokens are cached and replaced before
 * they expire. Only stored providers can have these settings. Replaces the `variant` of the adapter.
 */
export function withClientCredentials<Adapter extends ProviderAdapter>(adapter: Adapter): Adapter {
  const settings = v.intersect([adapter.settings, v.object({ provider_auth_type: v.literal(authType), ...oauthEntries })]);
  const authenticated = bearerAdapter(adapter, settings, (given, credentials, services) =>
    clientToken(given, credentials, services, { id: adapter.id, authType }),
  );
  return { ...adapter, variant: (given: JsonObject) => (given.provider_auth_type === authType ? authenticated : null) };
}

/**
 * Returns the access token of the OAuth client in these settings. Throws GatewayError `invalid_config` if a setting is missing.
 */
export function clientToken(
  settings: Readonly<Record<string, string>>,
  credentials: Credentials,
  services: SignServices,
  of: { readonly id: string; readonly authType: string },
): Maybe<Token> {
  const secret = credentials.oauth_client_secret?.reveal() ?? '';
  const { oauth_token_endpoint: endpoint, oauth_client_id: clientId, oauth_scope: scope } = settings;
  if (!endpoint || !clientId || secret === '') {
    throw new GatewayError('invalid_config', {
      message: `provider_auth_type ${of.authType} of ${of.id} needs oauth_token_endpoint, oauth_client_id and oauth_client_secret`,
      param: 'provider_auth_type',
    });
  }
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: secret, ...(scope ? { scope } : {}) };
  return services.tokens
    .of('oauth-client')
    .get(tokenKey(endpoint, clientId, secret, scope ?? ''), services.now(), () =>
      postForToken(services, endpoint, form, `${of.id} error`),
    );
}

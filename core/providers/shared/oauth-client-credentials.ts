import * as v from 'valibot';
import { GatewayError } from '../../contract/errors.ts';
import { isPromise, type JsonObject, type Maybe } from '../../contract/json.ts';
import type { OutgoingCall, ProviderAdapter } from '../../contract/provider.ts';
import { postForToken } from './oauth-token.ts';
import { createTokenCache, type Token, tokenKey } from './token-cache.ts';

/** The value of `provider_auth_type` that asks for this. */
const authType = 'oauthClientCredentials';

/** Settings of an integration whose upstream takes access tokens of an OAuth server; `oauth_client_secret` is a secret. */
const oauthSettings = v.object({
  provider_auth_type: v.literal(authType),
  oauth_token_endpoint: v.pipe(v.string(), v.regex(/^https?:\/\/[^\s#]+$/i, 'the URL of a token endpoint')),
  oauth_client_id: v.pipe(v.string(), v.minLength(1)),
  oauth_scope: v.nullish(v.string()),
});

const tokens = createTokenCache();

/**
 * Lets any provider authenticate by OAuth client credentials (RFC 6749 §4.4) instead of its own scheme: with
 * `provider_auth_type: oauthClientCredentials` each call carries a bearer token of the endpoint in its settings, cached and
 * replaced ahead of its end. These settings come with a stored provider only.
 */
export function withClientCredentials<Adapter extends ProviderAdapter>(adapter: Adapter): Adapter {
  const authenticated: ProviderAdapter = {
    ...adapter,
    settings: v.intersect([adapter.settings, oauthSettings]) as unknown as ProviderAdapter['settings'],
    // Its own key, if one is stored at all, is not for whoever takes tokens instead.
    headers: (settings) => adapter.headers(settings, {}),
    sign(call, settings, credentials, services) {
      const secret = credentials.oauth_client_secret?.reveal() ?? '';
      const {
        oauth_token_endpoint: endpoint,
        oauth_client_id: clientId,
        oauth_scope: scope,
      } = settings as Record<string, string>;
      if (!endpoint || !clientId || secret === '') throw incomplete(adapter.id);
      const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: secret, ...(scope ? { scope } : {}) };
      const token = tokens.get(tokenKey(endpoint, clientId, secret, scope ?? ''), services.now(), () =>
        postForToken(services, endpoint, form, `${adapter.id} error`),
      );
      const own = adapter.sign?.(call, settings, {}, services);
      return afterBoth(own, token, (found) => setBearer(call, found));
    },
  };
  return { ...adapter, variant: (given: JsonObject) => (given.provider_auth_type === authType ? authenticated : null) };
}

function afterBoth(own: Maybe<void> | undefined, token: Maybe<Token>, use: (token: Token) => void): Maybe<void> {
  if (isPromise(token) || isPromise(own as Maybe<void>)) return Promise.all([token, own]).then(([found]) => use(found));
  use(token);
}

/** The token takes the place of whatever credential header the call has. */
function setBearer(call: OutgoingCall, token: Token): void {
  const kept: string[] = [];
  for (let i = 0; i < call.headers.length; i += 2) {
    const name = call.headers[i] as string;
    if (!['authorization', 'x-api-key', 'api-key'].includes(name)) kept.push(name, call.headers[i + 1] as string);
  }
  call.headers = [...kept, 'authorization', `Bearer ${token.value.reveal()}`];
}

function incomplete(id: string): GatewayError {
  return new GatewayError('invalid_config', {
    message: `provider_auth_type ${authType} of ${id} needs oauth_token_endpoint, oauth_client_id and oauth_client_secret`,
    param: 'provider_auth_type',
  });
}

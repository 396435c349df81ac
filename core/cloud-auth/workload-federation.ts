import * as v from 'valibot';
import type { ProviderAdapter } from '../contract/provider/provider.ts';
import type { SignServices, Token } from '../contract/provider/sign-services.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import type { JsonObject } from '../contract/values/json/json.ts';
import { bearerAdapter } from './bearer-adapter.ts';
import { clientToken, oauthEntries } from './oauth-client-credentials.ts';
import { askForToken } from './oauth-token.ts';
import { tokenKey } from './token-cache.ts';

/** The value of `provider_auth_type` that selects this. */
const authType = 'wif';

/** Longest time a token of a provider is used, in milliseconds: a revoked rule takes effect within it. */
const lifetimeMaxMs = 900_000;

/** The token exchange of a provider. Its endpoint is the provider's own, never one of the settings. */
export interface TokenExchange {
  readonly url: string;
  readonly headers: readonly string[];
  /** Settings it needs, by name in the request; `?` marks those that may be left out. */
  readonly fields: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, string>>;
  /** Name of the request's member that carries the token of the identity provider. */
  readonly subject: string;
}

/**
 * Lets a provider be called by workload identity federation: with `provider_auth_type: wif` the gateway gets a token from the
 * organisation's identity provider (OAuth client credentials) and exchanges it at the provider for a short-lived access token.
 */
export function withFederation<Adapter extends ProviderAdapter>(adapter: Adapter, exchange: TokenExchange): Adapter {
  const names = Object.values(exchange.fields);
  const entries = Object.fromEntries(names.map((name) => [name, v.nullish(v.string())]));
  const own = v.object({ provider_auth_type: v.literal(authType), ...oauthEntries, ...entries });
  const federated = bearerAdapter(adapter, v.intersect([adapter.settings, own]), (given, credentials, services) => {
    const fields = fieldsOf(exchange, given, adapter.id);
    const secret = credentials.oauth_client_secret?.reveal() ?? '';
    const { oauth_token_endpoint: endpoint = '', oauth_client_id: clientId = '', oauth_scope: scope = '' } = given;
    const key = tokenKey(exchange.url, endpoint, clientId, secret, scope ?? '', JSON.stringify(fields));
    return services.tokens.of('federation').get(key, services.now(), async () => {
      const subject = await clientToken(given, credentials, services, { id: adapter.id, authType });
      return exchanged(exchange, fields, subject, services, adapter.id);
    });
  });
  const { variant } = adapter;
  return {
    ...adapter,
    variant: (given: JsonObject) => (given.provider_auth_type === authType ? federated : (variant?.(given) ?? null)),
  };
}

/** The fields of the exchange with the values of the settings. Throws GatewayError `invalid_config` for one that is missing. */
function fieldsOf(exchange: TokenExchange, given: Readonly<Record<string, string>>, id: string): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [field, setting] of Object.entries(exchange.fields)) {
    const value = given[setting];
    if (value) out[field.replace('?', '')] = value;
    else if (!field.endsWith('?')) {
      throw new GatewayError('invalid_config', { message: `provider_auth_type wif of ${id} needs ${setting}`, param: setting });
    }
  }
  return out;
}

async function exchanged(
  exchange: TokenExchange,
  fields: Readonly<Record<string, string>>,
  subject: Token,
  services: SignServices,
  id: string,
): Promise<Token> {
  const body = JSON.stringify({ ...exchange.body, [exchange.subject]: subject.value.reveal(), ...fields });
  const headers = ['content-type', 'application/json', 'accept', 'application/json', ...exchange.headers];
  const token = await askForToken(services, { url: exchange.url, method: 'POST', headers, body }, `${id} error`);
  return { ...token, expiresAtMs: Math.min(token.expiresAtMs, services.now() + lifetimeMaxMs) };
}

import type * as v from 'valibot';
import type { Credentials, OutgoingCall, ProviderAdapter, ProviderSettings } from '../contract/provider/provider.ts';
import type { SignServices, Token } from '../contract/provider/sign-services.ts';
import { credentialHeaders } from '../contract/values/http/credential-headers.ts';
import { isPromise, type Maybe } from '../contract/values/maybe.ts';

/**
 * The adapter with a bearer token instead of its own credential. `tokenOf` throws GatewayError `invalid_config` if the settings are
 * incomplete.
 */
export function bearerAdapter(
  adapter: ProviderAdapter,
  settings: v.GenericSchema,
  tokenOf: (settings: Readonly<Record<string, string>>, credentials: Credentials, services: SignServices) => Maybe<Token>,
): ProviderAdapter {
  return {
    ...adapter,
    settings: settings as ProviderAdapter['settings'],
    // The stored key of the provider must not be sent to a host that authenticates by token.
    headers: (given: ProviderSettings) => adapter.headers(given, {}),
    sign(call, given, credentials, services) {
      const token = tokenOf(given as Record<string, string>, credentials, services);
      const own = adapter.sign?.(call, given, {}, services);
      return afterBoth(own, token, (found) => setBearer(call, found));
    },
  };
}

function afterBoth(own: Maybe<void> | undefined, token: Maybe<Token>, use: (token: Token) => void): Maybe<void> {
  if (isPromise(token) || isPromise(own as Maybe<void>)) return Promise.all([token, own]).then(([found]) => use(found));
  use(token);
}

/** Replaces the credential header of the call, if any, with the token. */
function setBearer(call: OutgoingCall, token: Token): void {
  const remaining: string[] = [];
  for (let i = 0; i < call.headers.length; i += 2) {
    const name = call.headers[i] as string;
    if (!credentialHeaders.has(name)) remaining.push(name, call.headers[i + 1] as string);
  }
  call.headers = [...remaining, 'authorization', `Bearer ${token.value.reveal()}`];
}

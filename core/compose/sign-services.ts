import { createTokenCaches } from '../cloud-auth/token-cache.ts';
import type { SignServices, TokenFetch } from '../contract/provider/sign-services.ts';
import { type ErrorCode, GatewayError } from '../contract/values/errors/errors.ts';
import { createTokenFetch, type TokenFetchOptions } from '../pipeline/target/token-fetch.ts';

/** Ends of calls without a response, as they are worded for token endpoints. */
const failures: Readonly<Partial<Record<ErrorCode, string>>> = {
  upstream_connect: 'could not be reached',
  upstream_reset: 'closed the connection before it replied',
  request_timeout: 'did not reply in time',
};

/**
 * Returns the services of adapters that sign with tokens. Tokens are not shared with other services, because only some may use the
 * identity of the machine. If a token endpoint does not respond, `fetch` rejects with `token_unavailable`, so that clients, logs and connection
 * tests do not take it for the provider.
 */
export function createSignServices(options: TokenFetchOptions): SignServices {
  const calls = createTokenFetch(options);
  return {
    ...calls,
    fetch: (request) => calls.fetch(request).catch((error) => Promise.reject(named(error, request))),
    tokens: createTokenCaches(),
  };
}

/** The host is in the detail only, because settings of a tenant may name it. */
function named(error: unknown, { url, metadata }: Parameters<TokenFetch['fetch']>[0]): unknown {
  const failure = error instanceof GatewayError ? failures[error.code] : undefined;
  if (failure === undefined) return error;
  const { message, detail } = error as GatewayError;
  const endpoint = metadata ? 'The metadata service of this machine' : 'The token endpoint of the provider';
  return new GatewayError('token_unavailable', {
    message: `${endpoint} ${failure}`,
    detail: `${URL.parse(url)?.origin}: ${detail ?? message}`,
    cause: error,
  });
}

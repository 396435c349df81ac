import { createTokenCaches } from '../cloud-auth/token-cache.ts';
import type { SignServices } from '../contract/provider/sign-services.ts';
import { createTokenFetch, type TokenFetchOptions } from '../pipeline/target/token-fetch.ts';

/**
 * Returns the services of adapters that sign with tokens. Tokens are not shared with other services, because only some may use the
 * identity of the machine.
 */
export function createSignServices(options: TokenFetchOptions): SignServices {
  return { ...createTokenFetch(options), tokens: createTokenCaches() };
}

import type { DocumentReader } from '../contract/plugin/plugin.ts';
import { checkKeySetUrl } from '../contract/protocol/credentials/key-set.ts';
import type { TokenVerifier } from '../contract/protocol/credentials/tokens.ts';
import type { InternalFetch } from '../contract/protocol/internal-api.ts';
import type { TokenFetch } from '../contract/provider/sign-services.ts';
import type { ParseUrl } from '../contract/values/addresses/call-address.ts';
import type { TrustedHosts } from '../contract/values/addresses/outbound-url.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import type { Log } from '../contract/values/log/log.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { createKeySetFetch } from './fetch-key-set.ts';
import { KeySets } from './key-sets.ts';
import { Refusals } from './refusals.ts';
import { createTokenVerifier } from './token-verifier.ts';

export interface Tokens extends TokenVerifier {
  /** Reports the last rejected tokens. */
  close(): Promise<void>;
}

/** Verification of JWTs in a gateway process. `fetchKeySet` is the guarded connector; `fetch` reaches the control plane. */
export function startTokens(options: {
  readonly documents: DocumentReader;
  readonly fetchKeySet: TokenFetch['fetch'];
  readonly fetch: InternalFetch;
  readonly clock: Clock;
  readonly log: Log;
}): Tokens {
  const { documents, fetch, clock, log } = options;
  const keySets = new KeySets({ fetch: createKeySetFetch(options.fetchKeySet), clock, log });
  const refusals = new Refusals({ documents, fetch, clock, log });
  const verifier = createTokenVerifier({
    documents,
    keySets,
    clock,
    noteRefusal: (ask, error, use) => refusals.note(ask, error, use),
  });
  return { ...verifier, close: () => refusals.close() };
}

/**
 * Returns a parser that splits the URL of a key set for the connector. It throws GatewayError `invalid_custom_host` for a URL
 * that gateways must not call.
 */
export function keySetUrlParser(trusted: TrustedHosts): ParseUrl {
  return (url) => {
    const check = checkKeySetUrl(url, trusted);
    if (check.ok) return check;
    throw new GatewayError('invalid_custom_host', { message: `The URL of a key set ${check.reason}` });
  };
}

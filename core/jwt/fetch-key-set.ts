import * as v from 'valibot';
import { keySetBytesMax, keysMax } from '../contract/protocol/credentials/key-set.ts';
import type { TokenFetch } from '../contract/provider/sign-services.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { type FetchKeySet, goodKeys } from './key-sets.ts';

const keySet = v.object({ keys: v.pipe(v.array(v.unknown()), v.maxLength(keysMax)) });

/**
 * Reads a key set over the gateway's one connector. Redirects are not followed, and no data of the caller is sent. Rejects with
 * GatewayError unless the response is a 200 with a JWKS that has a usable key.
 */
export function createKeySetFetch(fetch: TokenFetch['fetch']): FetchKeySet {
  return async (url) => {
    const reply = await fetch({
      method: 'GET',
      url,
      headers: ['accept', 'application/jwk-set+json, application/json'],
      body: null,
    });
    if (reply.status !== 200) throw unreadable(`the server replied with ${reply.status}`);
    if (reply.body.length > keySetBytesMax) throw unreadable(`the key set is longer than ${keySetBytesMax} bytes`);
    const keys = goodKeys(parse(reply.body));
    // A set without a usable key is an error of its publisher. The last good set stays valid.
    if (keys.size === 0) throw unreadable('the key set contains no public RSA key of at least 2048 bits with a kid');
    return keys;
  };
}

function parse(bytes: Uint8Array): readonly unknown[] {
  try {
    return v.parse(keySet, JSON.parse(Buffer.from(bytes).toString('utf8'))).keys;
  } catch {
    throw unreadable('expected a key set of at most 100 keys');
  }
}

function unreadable(reason: string): GatewayError {
  return new GatewayError('upstream_invalid', { message: `A key set cannot be used: ${reason}` });
}

import { createPrivateKey, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import type { DocumentReader } from '../contract/plugin/plugin.ts';
import { identityIssuer, type SigningKeyDocument, signingKeyId } from '../contract/protocol/credentials/signing-key.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import type { JsonObject } from '../contract/values/json/json.ts';
import type { Clock } from '../contract/values/time/clock.ts';

const tokensMax = 10_000;

/** Signs the identity of callers for MCP servers, and publishes the keys for it. */
export interface IdentitySigner {
  /**
   * Returns a JWT (RS256) with these claims. Callers with the same claims share one until half of its lifetime has passed. Rejects with
   * GatewayError `unavailable` if the key cannot be read.
   */
  sign(claims: JsonObject, audience: string, expirySeconds: number): Promise<string>;
  /** The public keys as a JSON Web Key Set. Rejects as `sign` does. */
  keySet(): Promise<JsonObject>;
}

interface Parts {
  readonly documents: DocumentReader;
  /** Returns the private key of this place in the document, in PKCS #8. */
  openKey(key: SigningKeyDocument['keys'][number]): string;
  readonly clock: Clock;
}

/** Signs identities with the first key of the document. Tokens are reused while enough of their life is left. */
export function createIdentitySigner({ documents, openKey, clock }: Parts): IdentitySigner {
  const opened = new WeakMap<SigningKeyDocument, KeyObject>();
  const signed = new LRUCache<string, { readonly token: string; readonly usableUntilMs: number }>({ max: tokensMax });

  const keyOf = (document: SigningKeyDocument): KeyObject => {
    let key = opened.get(document);
    if (!key) {
      key = createPrivateKey(openKey(document.keys[0] as SigningKeyDocument['keys'][number]));
      opened.set(document, key);
    }
    return key;
  };
  const load = async (): Promise<SigningKeyDocument> => {
    const document = await documents.get('signing-key', signingKeyId);
    if (document && document.keys.length > 0) return document;
    throw new GatewayError('unavailable', { message: 'The signing key of this service cannot be read', retryAfterMs: 1_000 });
  };

  return {
    async sign(claims, audience, expirySeconds) {
      const document = await load();
      const kid = document.keys[0]?.publicKey.kid as string;
      const name = JSON.stringify([kid, audience, expirySeconds, claims]);
      const nowMs = clock.now();
      const known = signed.get(name);
      if (known && known.usableUntilMs > nowMs) return known.token;
      const nowSeconds = Math.floor(nowMs / 1000);
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', kid, typ: 'JWT' })
        .setIssuer(identityIssuer)
        .setAudience(audience)
        .setIssuedAt(nowSeconds)
        .setExpirationTime(nowSeconds + expirySeconds)
        .sign(keyOf(document));
      signed.set(name, { token, usableUntilMs: nowMs + (expirySeconds * 1000) / 2 });
      return token;
    },
    async keySet() {
      return { keys: (await load()).keys.map(({ publicKey }) => publicKey) };
    },
  };
}

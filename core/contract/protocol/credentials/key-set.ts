import { createPublicKey, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import * as v from 'valibot';
import { checkOutboundUrl, type TrustedHosts } from '../../values/addresses/outbound-url.ts';
import { isTrustedAddress, isTrustedName } from '../../values/addresses/trusted-hosts.ts';

/** A public RSA key as organisations publish it (RFC 7517, RFC 7518 §6.3.1). */
export const publicJwk = v.object({ kty: v.literal('RSA'), kid: v.string(), n: v.string(), e: v.string() });
export type PublicJwk = v.InferOutput<typeof publicJwk>;

/** Bytes of a key set as JSON, and keys in it. */
export const keySetBytesMax = 262_144;
export const keysMax = 100;
/** A public RSA key longer than this takes long to check signatures with. */
const bits = { least: 2_048, most: 8_192 } as const;

/** Parameters of private and symmetric keys (RFC 7518 §6.3.2, §6.4.1). */
export const privateParameters = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const;

/** The usable parameters of a JWK, or the invalid parameter and the reason. Never holds a value. */
export type JwkCheck =
  | { readonly ok: true; readonly jwk: PublicJwk; readonly key: KeyObject }
  | { readonly ok: false; readonly field: string; readonly reason: string };

/** Checks one JWK: a public RSA key for signatures by RS256, of 2048 bits at least, with a `kid`. */
export function checkJwk(input: unknown): JwkCheck {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return bad('', 'must be an object');
  const jwk = input as Record<string, unknown>;
  const secret = privateParameters.find((name) => name in jwk);
  if (secret !== undefined) return bad(secret, 'is a private parameter. Send public keys only, and replace this key');
  if (jwk.kty !== 'RSA') return bad('kty', 'must be RSA');
  const { kid, n, e } = jwk;
  if (typeof kid !== 'string' || kid === '' || kid.length > 255) return bad('kid', 'must be a string of 1 to 255 characters');
  if (jwk.alg !== undefined && jwk.alg !== 'RS256') return bad('alg', 'must be RS256');
  if (jwk.use !== undefined && jwk.use !== 'sig') return bad('use', 'must be sig');
  if (jwk.key_ops !== undefined && !(Array.isArray(jwk.key_ops) && jwk.key_ops.includes('verify')))
    return bad('key_ops', 'must name verify');
  if (typeof n !== 'string' || !base64url.test(n)) return bad('n', 'must be base64url');
  if (typeof e !== 'string' || !base64url.test(e)) return bad('e', 'must be base64url');
  return checkModulus({ kty: 'RSA', kid, n, e });
}

function checkModulus(jwk: PublicJwk): JwkCheck {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return bad('n', 'is not the modulus of an RSA key');
  }
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  if (modulusLength < bits.least) return bad('n', `must have at least ${bits.least} bits, has ${modulusLength}`);
  if (modulusLength > bits.most) return bad('n', `must have at most ${bits.most} bits`);
  // Long exponents make every check slow. 1 and even exponents give no valid signatures.
  if (publicExponent < 3n || publicExponent % 2n === 0n || publicExponent >= 1n << 32n)
    return bad('e', 'must be odd, and from 3 to 4294967295');
  return { ok: true, jwk, key };
}

const base64url = /^[A-Za-z0-9_-]{1,2048}$/;

function bad(field: string, reason: string): JwkCheck {
  return { ok: false, field, reason };
}

export type KeySetUrlCheck =
  | { readonly ok: true; readonly origin: string; readonly path: string }
  | { readonly ok: false; readonly reason: string };

/**
 * Checks the URL of a key set by its text, like every URL that gateways call. `http` is allowed only if the deployment trusts the
 * host, because anyone on the network path could replace the keys. `path` is unchanged and includes the query.
 */
export function checkKeySetUrl(url: string, trusted: TrustedHosts): KeySetUrlCheck {
  const check = checkOutboundUrl(url, { trusted, allowQuery: true });
  if (!check.ok) return check;
  const { origin, protocol, hostname, port } = check.url;
  const isTrusted = isTrustedName(trusted, hostname, port) || (isIP(hostname) !== 0 && isTrustedAddress(trusted, hostname, port));
  if (protocol === 'http:' && !isTrusted) return { ok: false, reason: 'must begin with https://' };
  const path = url.replace(/^https?:\/\/[^/?]*/i, '');
  return { ok: true, origin, path: path.startsWith('/') ? path : `/${path}` };
}

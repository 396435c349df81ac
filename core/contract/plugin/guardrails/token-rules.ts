import { RE2JS } from 're2js';
import * as v from 'valibot';

/** Rules for tokens that other services issued: the check `default.jwt`, and `jwt_validation` of MCP integrations. */

export const asymmetricAlgorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'],
] as const;
export const algorithms = [...asymmetricAlgorithms, 'HS256', 'HS384', 'HS512'] as const;

export const jwk = v.looseObject({
  kty: v.picklist(['RSA', 'EC', 'OKP', 'oct']),
  kid: v.optional(v.pipe(v.string(), v.maxLength(255))),
  alg: v.optional(v.pipe(v.string(), v.maxLength(255))),
});
/** A JSON Web Key Set, also as its JSON text. */
export const keySet = v.union([
  v.looseObject({ keys: v.pipe(v.array(jwk), v.minLength(1), v.maxLength(100)) }),
  v.pipe(v.string(), v.parseJson(), v.looseObject({ keys: v.pipe(v.array(jwk), v.minLength(1), v.maxLength(100)) })),
]);
export type Jwk = v.InferOutput<typeof jwk>;

const name = v.pipe(v.string(), v.minLength(1), v.maxLength(255));
const pattern = v.pipe(
  v.string(),
  v.maxLength(256),
  v.check((text) => {
    try {
      RE2JS.compile(text);
      return true;
    } catch {
      return false;
    }
  }, 'not a valid RE2 pattern'),
);
const value = v.union([v.string(), v.number(), v.boolean()]);
const values = v.union([
  v.pipe(
    value,
    v.transform((one) => [one]),
  ),
  v.pipe(v.array(value), v.minLength(1), v.maxLength(100)),
]);
const rule = v.union([
  v.strictObject({
    values: v.union([
      v.pipe(
        pattern,
        v.transform((one) => [one]),
      ),
      v.array(pattern),
    ]),
    matchType: v.literal('regex'),
  }),
  v.strictObject({ values, matchType: v.optional(v.picklist(['exact', 'contains', 'containsAll']), 'exact') }),
]);

/** Parameters about the claims of a valid token. */
export const claimRules = {
  requiredClaims: v.optional(v.pipe(v.array(name), v.maxLength(32)), []),
  claimValues: v.optional(v.record(name, rule), {}),
  /** Names of headers whose value must be that of the claim with the same name. */
  headerPayloadMatch: v.optional(v.pipe(v.array(name), v.maxLength(32)), []),
};
export type ClaimRule = v.InferOutput<typeof rule>;
export type ClaimRules = { readonly [Key in keyof typeof claimRules]: v.InferOutput<(typeof claimRules)[Key]> };

export const introspectionTypes = ['application/json', 'application/x-www-form-urlencoded'] as const;

/** An age such as `30m`, or seconds. */
export const tokenAge = v.union([
  v.pipe(v.number(), v.minValue(1)),
  v.pipe(v.string(), v.regex(/^\d{1,6} ?[smhdwy]$/, 'expected a time such as 1d')),
]);

export const tokenHeader = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9-]{1,128}$/, 'expected letters, digits and hyphens'),
  v.toLowerCase(),
);

/** Seconds with a default and a maximum. */
export function seconds(byDefault: number, max: number) {
  return v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(max)), byDefault);
}

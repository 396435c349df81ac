import * as v from 'valibot';
import { keySetBytesMax, keysMax, publicJwk } from '../../../core/contract/protocol/credentials/key-set.ts';

const claim = v.optional(v.nullable(v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(512))), null);

/** JWT settings of an organisation: the URL of its public keys, or the keys. Null turns JWT authentication off. */
export const jwtBody = v.nullable(
  v.pipe(
    v.strictObject({
      /** One URL, or several separated by commas. */
      jwks_url: v.optional(v.nullable(v.pipe(v.string(), v.trim(), v.maxLength(8_192, 'at most 8192 characters'))), null),
      jwks: v.optional(
        v.nullable(
          v.pipe(
            v.object({
              keys: v.pipe(
                v.array(v.unknown()),
                v.minLength(1, 'must not be empty'),
                v.maxLength(keysMax, `at most ${keysMax} keys`),
              ),
            }),
            v.check((set) => JSON.stringify(set).length <= keySetBytesMax, `at most ${keySetBytesMax} bytes`),
          ),
        ),
        null,
      ),
      /** Required `iss` and `aud` of a JWT, if set. */
      issuer: claim,
      audience: claim,
      /** Maximum life of a token in seconds; null: as its claims state. */
      max_token_ttl: v.optional(
        v.nullable(
          v.pipe(
            v.number(),
            v.integer('a whole number is expected'),
            v.minValue(60, 'at least 60 seconds'),
            v.maxValue(315_360_000, 'at most 315360000 seconds'),
          ),
        ),
        null,
      ),
    }),
    v.check((sent) => (sent.jwks_url === null) !== (sent.jwks === null), 'either jwks_url or jwks is expected'),
  ),
);

export const jwtReply = v.nullable(
  v.strictObject({
    jwks_url: v.nullable(v.string()),
    jwks: v.nullable(v.strictObject({ keys: v.array(v.strictObject(publicJwk.entries)) })),
    issuer: v.nullable(v.string()),
    audience: v.nullable(v.string()),
    max_token_ttl: v.nullable(v.number()),
  }),
);

type JwtReply = NonNullable<v.InferOutput<typeof jwtReply>>;

/** Stored form; older rows have no `max_token_ttl`. */
export type JwtSettings = Omit<JwtReply, 'max_token_ttl'> & Partial<Pick<JwtReply, 'max_token_ttl'>>;

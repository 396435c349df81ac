import * as v from 'valibot';
import { breakerConfig } from '../../../core/contract/plugin/config/strategy-config.ts';
import { privateParameters } from '../../../core/contract/protocol/credentials/key-set.ts';
import { externalTokenRules } from '../../../core/contract/protocol/mcp/external-tokens.ts';
import { identityMethods } from '../../../core/contract/protocol/mcp/mcp.ts';
import { isProtocolHeader } from '../../../core/contract/protocol/mcp/mcp-headers.ts';
import { isUnforwardedHeader } from '../../../core/contract/values/http/connection-headers.ts';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';

const headerName = v.pipe(
  v.string(),
  v.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, 'not a header name'),
  v.toLowerCase(),
  v.check((name) => !isUnforwardedHeader(name) && !isProtocolHeader(name) && name !== 'cookie', 'this header cannot be set'),
);
const claimName = v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(255, 'at most 255 characters'));

const identityForwarding = v.strictObject({
  method: oneOf(identityMethods),
  include_claims: v.optional(
    v.pipe(v.array(claimName), v.minLength(1, 'at least one claim'), v.maxLength(50, 'at most 50 claims')),
  ),
  header_name: v.optional(headerName),
  jwt_expiry_seconds: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(30, 'at least 30'), v.maxValue(3_600, 'at most 3600')),
  ),
});

const tokenRules = v.pipe(
  externalTokenRules,
  v.check(
    ({ jwks, jwksUri, introspectEndpoint }) =>
      [jwks, jwksUri, introspectEndpoint].filter((one) => one !== undefined).length === 1,
    'expected exactly one of jwks, jwksUri and introspectEndpoint',
  ),
  // Reads show the keys, so a private one must not be among them.
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const secret = privateParameterIn(dataset.value.jwks?.keys ?? []);
    if (secret !== null) {
      addIssue({ message: `jwks.${secret} is a private parameter. Send public keys only, and replace this key` });
    }
  }),
);

/** Returns the path of the first private parameter, such as `keys[0].d`; null if there is none. */
function privateParameterIn(keys: readonly object[]): string | null {
  for (const [index, key] of keys.entries()) {
    const name = privateParameters.find((one) => one in key);
    if (name !== undefined) return `keys[${index}].${name}`;
  }
  return null;
}

/** Settings of calls among `configurations`. */
export const callSettings = {
  /** Milliseconds. */
  request_timeout: v.nullish(
    v.pipe(v.number(), v.integer(), v.minValue(100, 'at least 100'), v.maxValue(3_600_000, 'at most 3600000')),
  ),
  cb_config: v.nullish(breakerConfig),
  user_identity_forwarding: v.nullish(identityForwarding),
  jwt_validation: v.nullish(tokenRules),
};
export type SentCallSettings = v.InferOutput<v.StrictObjectSchema<typeof callSettings, undefined>>;

/** The settings as they are stored: the secret is replaced by a mask. */
export type CallSettings = { [K in keyof SentCallSettings]?: NonNullable<SentCallSettings[K]> };

import * as v from 'valibot';
import type { RequestContext } from '../../plugin/context.ts';
import {
  asymmetricAlgorithms,
  claimRules,
  introspectionTypes,
  keySet,
  seconds,
  tokenAge,
  tokenHeader,
} from '../../plugin/guardrails/token-rules.ts';
import type { JsonObject } from '../../values/json/json.ts';

const url = v.pipe(v.string(), v.maxLength(2_048, 'at most 2,048 characters'));
const text = v.pipe(v.string(), v.minLength(1), v.maxLength(2_048));

/** `jwt_validation` of an MCP integration: rules for tokens that another service issued to the caller. */
export const externalTokenRules = v.strictObject({
  jwksUri: v.optional(url),
  jwks: v.optional(keySet),
  introspectEndpoint: v.optional(url),
  introspectContentType: v.optional(v.picklist(introspectionTypes), 'application/json'),
  introspectClientId: v.optional(text),
  introspectClientSecret: v.optional(text),
  introspectCacheMaxAge: seconds(0, 3_600),
  headerKey: v.optional(tokenHeader, 'authorization'),
  algorithms: v.optional(
    v.pipe(
      v.array(v.picklist(asymmetricAlgorithms, 'an asymmetric algorithm such as RS256 is expected')),
      v.minLength(1, 'at least one algorithm is expected'),
    ),
    () => ['RS256' as const],
  ),
  clockTolerance: seconds(5, 600),
  cacheMaxAge: seconds(86_400, 604_800),
  maxTokenAge: v.optional(tokenAge),
  ...claimRules,
});
export type ExternalTokenRules = v.InferOutput<typeof externalTokenRules>;

/** Validation of the external tokens of one server. */
export interface ExternalTokens {
  /** Header that holds the token, in lower case. It is never sent to the server. */
  readonly header: string;
  /**
   * Returns the claims of the token of a request. Throws GatewayError `invalid_api_key` for a token that is missing, invalid or refused, and
   * `unavailable` if keys or endpoint cannot be reached.
   */
  validate(ctx: RequestContext): Promise<JsonObject>;
}

import * as v from 'valibot';
import {
  algorithms,
  claimRules,
  introspectionTypes,
  keySet,
  seconds,
  tokenAge,
  tokenHeader,
} from '../../../../core/contract/plugin/guardrails/token-rules.ts';
import { type Check, defineCheck, type Outcome, requestSides, type Subject } from '../check.ts';
import { serviceUrl } from '../outgoing-headers.ts';
import { type Claims, claimIssues } from './claims.ts';
import { createIntrospection } from './introspection.ts';
import { createKeys } from './keys.ts';
import { verify } from './verify.ts';

const claimName = v.pipe(v.string(), v.minLength(1), v.maxLength(255));

const parameters = v.strictObject({
  jwks: v.optional(keySet),
  jwksUri: v.optional(serviceUrl),
  introspectEndpoint: v.optional(serviceUrl),
  introspectContentType: v.optional(v.picklist(introspectionTypes), 'application/json'),
  introspectCacheMaxAge: seconds(0, 3600),
  headerKey: v.optional(tokenHeader, 'authorization'),
  cacheMaxAge: seconds(86_400, 604_800),
  clockTolerance: seconds(5, 600),
  maxTokenAge: v.optional(tokenAge, '1d'),
  algorithms: v.optional(v.pipe(v.array(v.picklist(algorithms)), v.minLength(1)), ['RS256']),
  ...claimRules,
  extractClaims: v.optional(v.pipe(v.array(claimName), v.maxLength(32)), []),
  claimPrefix: v.optional(v.pipe(v.string(), v.maxLength(64)), 'x-jwt-'),
});
type JwtParameters = v.InferOutput<typeof parameters>;

/**
 * `default.jwt`: a header of the request holds a valid token: a JWT whose signature a key verifies, or a token that an endpoint declares active.
 * Invalid tokens fail the check. If the keys or the endpoint cannot be reached, the check cannot run.
 */
export const jwt: Check = defineCheck({
  id: 'default.jwt',
  sides: requestSides,
  readsNoText: true,
  parameters,
  prepare(given, services) {
    const sources = [given.jwks, given.jwksUri, given.introspectEndpoint].filter((source) => source !== undefined);
    if (sources.length !== 1) throw new Error('jwks: expected exactly one of jwks, jwksUri and introspectEndpoint');
    const keys = createKeys(given, services);
    const introspect = createIntrospection(given, services);
    return async (subject) => {
      const header = subject.ctx.request.header(given.headerKey);
      if (!header) return failed('Missing authorization header');
      const token = header.replace(/^Bearer\s+/i, '').trim();
      const checked =
        given.introspectEndpoint === undefined
          ? await verify(token, keys, { ...given, ageOptional: true })
          : await introspect(token);
      if (!checked.ok)
        return failed(checked.explanation, checked.isSigned === undefined ? {} : { signatureValid: checked.isSigned });
      return judgeClaims(subject, checked.claims, given);
    };
  },
});

function judgeClaims(subject: Subject, claims: Claims, given: JwtParameters): Outcome {
  const { issues, validations } = claimIssues(claims, given, (name) => subject.ctx.request.header(name));
  const all = { signatureValid: true, ...validations };
  if (issues.length > 0) return failed(`JWT validation failed: ${issues.join('; ')}`, all);
  if (given.extractClaims.length > 0) addMetadata(subject, claims, given);
  return { verdict: true, data: { verdict: true, explanation: 'JWT token validation succeeded', validations: all } };
}

/** Later plugins, such as conditional routing, see the claims as metadata of the request. */
function addMetadata({ ctx }: Subject, claims: Claims, { extractClaims, claimPrefix }: JwtParameters): void {
  const added = extractClaims.flatMap((name) => {
    const value = claims[name];
    const text = typeof value === 'string' ? value : value === undefined ? null : JSON.stringify(value);
    return text === null ? [] : [[`${claimPrefix}${name}`, text.slice(0, metadataCharsMax)] as const];
  });
  ctx.metadata = { ...ctx.metadata, ...Object.fromEntries(added) };
}

const metadataCharsMax = 128;

function failed(explanation: string, validations?: Record<string, unknown>): Outcome {
  const shown = validations && Object.keys(validations).length > 0 ? { validations } : {};
  return { verdict: false, data: { verdict: false, explanation, ...shown } };
}

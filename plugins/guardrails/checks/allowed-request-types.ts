import * as v from 'valibot';
import { didYouMean } from '../../../config/did-you-mean.ts';
import { operationNames } from '../../../core/contract/provider/provider.ts';
import { type Check, defineCheck, requestSides } from './check.ts';

/** Request types of routes that are no operation of a provider: see `BodyFacts.requestType`. */
const otherTypes = ['proxy', 'realtime', 'listModels', 'mcp', 'agent'] as const;

/** Every value of `requestType`. Checked against the routes by a test. */
export const requestTypes: readonly string[] = [...operationNames, ...otherTypes];

/** A list, or its items in one text with commas between them. */
const types = v.optional(
  v.pipe(
    v.union([v.array(v.string()), v.string()]),
    v.transform((given) => listOf(given)),
    v.check(
      (names) => names.every((name) => requestTypes.includes(name)),
      ({ input: names }) => unknownType(names.find((name) => !requestTypes.includes(name)) ?? ''),
    ),
  ),
);

function unknownType(name: string): string {
  // Streams have the type of their route.
  const meant = didYouMean(name.replace(/^stream-/, ''), requestTypes);
  return `unknown request type ${JSON.stringify(name.slice(0, 100))}${meant || `. Types are ${requestTypes.join(', ')}`}`;
}

/**
 * `default.allowedRequestTypes`: the function of the route is allowed and not blocked. Without lists of its own it reads the metadata keys
 * `supported_endpoints` and `blocked_endpoints`.
 */
export const allowedRequestTypes: Check = defineCheck({
  id: 'default.allowedRequestTypes',
  sides: requestSides,
  readsNoText: true,
  parameters: v.pipe(
    v.strictObject({ allowedTypes: types, blockedTypes: types }),
    v.check(
      ({ allowedTypes, blockedTypes }) => !allowedTypes?.some((type) => blockedTypes?.includes(type)),
      'a type is both allowed and blocked',
    ),
  ),
  prepare:
    (own) =>
    ({ requestType: currentRequestType, metadata }) => {
      const isOwn = (own.allowedTypes ?? own.blockedTypes) !== undefined;
      const source = isOwn ? 'parameters' : 'metadata';
      const allowedTypes = isOwn ? (own.allowedTypes ?? []) : listOf(metadata.supported_endpoints);
      const blockedTypes = isOwn ? (own.blockedTypes ?? []) : listOf(metadata.blocked_endpoints);
      const result = (verdict: boolean, explanation: string, mode: string, lists: object) => ({
        verdict,
        data: { currentRequestType, ...lists, verdict, explanation, source, mode },
      });
      const name = `Request type "${currentRequestType}"`;
      if (blockedTypes.includes(currentRequestType)) return result(false, `${name} is blocked.`, 'blocklist', { blockedTypes });
      if (allowedTypes.length > 0) {
        const isAllowed = allowedTypes.includes(currentRequestType);
        const explanation = isAllowed
          ? `${name} is allowed.`
          : `${name} is not allowed. Allowed types are: ${allowedTypes.join(', ')}`;
        return result(isAllowed, explanation, 'allowlist', { allowedTypes });
      }
      if (blockedTypes.length > 0) return result(true, `${name} is allowed.`, 'blocklist', { blockedTypes });
      const explanation = `${name} is allowed (no restrictions configured).`;
      const data = {
        currentRequestType,
        allowedTypes: ['all'],
        verdict: true,
        explanation,
        source: 'default',
        mode: 'unrestricted',
      };
      return { verdict: true, data };
    },
});

function listOf(given: readonly string[] | string | undefined): string[] {
  const items = typeof given === 'string' ? given.split(',') : (given ?? []);
  return items.map((item) => item.trim()).filter((item) => item !== '');
}

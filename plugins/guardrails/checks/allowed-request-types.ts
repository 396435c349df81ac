import * as v from 'valibot';
import { type Check, defineCheck, requestSides } from './check.ts';

/** A list, or its items in one text with commas between them. */
const types = v.optional(
  v.pipe(
    v.union([v.array(v.string()), v.string()]),
    v.transform((given) => listOf(given)),
  ),
);

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
      return result(true, `${name} is allowed (no restrictions configured).`, 'unrestricted', {});
    },
});

function listOf(given: readonly string[] | string | undefined): string[] {
  const items = typeof given === 'string' ? given.split(',') : (given ?? []);
  return items.map((item) => item.trim()).filter((item) => item !== '');
}

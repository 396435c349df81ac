import * as v from 'valibot';
import type { ApiKeyType } from '../../../core/contract/values/credentials/api-key.ts';
import { isUuid, uuidPattern } from '../../../core/contract/values/text/uuid.ts';
import { dayMs } from '../../../core/contract/values/time/durations.ts';
import { scopesByType, unusedScopes } from '../../access/scopes.ts';
import { withoutEffect } from '../../http/reply/unused-settings.ts';
import {
  id,
  idOrSlug,
  name,
  ownerEntries,
  pageEntries,
  queryFlag,
  search,
  tenantEntries,
  textMap,
  timestamp,
  unchanged,
} from '../../http/request/schemas.ts';
import { rateLimitsBody, usageLimitsBody } from '../../limits/schema.ts';
import { optionBodies } from './options.ts';
import { transitionMsMin } from './rotation-policy.ts';

const defaults = v.strictObject({
  metadata: v.nullish(textMap),
  config_id: v.nullish(idOrSlug),
  allow_config_override: v.optional(v.boolean()),
});

/**
 * The type and grantor of the key decide which scopes are allowed; that check runs where both are loaded. The description lists
 * the possible scopes.
 */
const scopesOf = (possible: Iterable<string>) =>
  withoutEffect(
    v.pipe(
      v.array(v.pipe(v.string(), v.metadata({ jsonSchema: { type: 'string', enum: [...possible] } }), v.maxLength(128))),
      v.maxLength(500, 'at most 500 scopes'),
      v.minLength(1, 'at least one scope'),
    ),
    unusedScopes,
  );

const transitionMs = v.pipe(
  v.number(),
  v.integer('a whole number is expected'),
  v.minValue(transitionMsMin, `at least ${transitionMsMin}`),
  v.maxValue(366 * dayMs, 'at most 366 days'),
);

/** The check for a future time runs where the stored value is loaded. */
const time = v.pipe(
  timestamp,
  v.transform((value) => new Date(value)),
);

const rotationPolicy = v.strictObject({
  rotation_period: v.nullish(v.picklist(['weekly', 'monthly'], 'weekly, monthly or null is expected')),
  rotation_period_days: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(365, 'at most 365 days'))),
  next_rotation_at: v.nullish(time),
  key_transition_period_ms: v.optional(transitionMs),
  // Read-only fields. Clients may send them back; they have no effect.
  status: v.optional(v.unknown()),
  secret_expires_at: v.optional(v.unknown()),
});

export type RotationPolicyBody = v.InferOutput<typeof rotationPolicy>;

const shared = {
  ...tenantEntries,
  ...optionBodies,
  rate_limits: v.nullish(rateLimitsBody),
  usage_limits: v.nullish(usageLimitsBody),
  defaults: v.nullish(defaults),
  expires_at: v.nullish(time),
  rotation_policy: v.nullish(rotationPolicy),
};

/** Keys of services take `user_id: null` only. */
const nobody = v.pipe(v.nullish(id), v.metadata({ jsonSchema: { const: null } }));

/** Body of the route that creates keys of this type. */
export function createBodyOf(type: ApiKeyType) {
  const userId = type === 'workspace-user' ? v.nullish(id) : nobody;
  return v.strictObject({ ...shared, name, user_id: userId, scopes: scopesOf(scopesByType[type]) });
}
export type CreateBody = v.InferOutput<ReturnType<typeof createBodyOf>>;

const scopesOfAnyType = scopesOf(new Set(Object.values(scopesByType).flatMap((scopes) => [...scopes])));

export const updateBody = v.strictObject({
  ...shared,
  ...ownerEntries,
  type: unchanged,
  user_id: v.nullish(id),
  name: v.optional(name),
  scopes: v.optional(scopesOfAnyType),
  reset_usage: v.nullish(v.boolean()),
});
export type UpdateBody = v.InferOutput<typeof updateBody>;

export const rotateBody = v.strictObject({ ...tenantEntries, key_transition_period_ms: v.optional(transitionMs) });

export const keyStates = ['active', 'exhausted', 'expired'] as const;
const stateList = new RegExp(`^(${keyStates.join('|')})(,(${keyStates.join('|')})){0,2}$`);

/** Two names of the same flag: include budget usage. */
const usageFlags = { usage: queryFlag, include_usage: queryFlag };

export const listQuery = v.strictObject({
  ...tenantEntries,
  ...pageEntries,
  search,
  status: v.optional(v.pipe(v.string(), v.regex(stateList, 'active, exhausted or expired is expected, or several with commas'))),
  ids: v.optional(
    v.pipe(
      v.string(),
      v.metadata({ jsonSchema: { type: 'string', pattern: `^${uuidPattern}(,${uuidPattern}){0,99}$` } }),
      v.check((text) => text.split(',').length <= 100 && text.split(',').every(isUuid), 'at most 100 UUIDs separated by commas'),
    ),
  ),
  user_id: v.optional(id),
  type: v.optional(v.picklist(['organisation-service', 'workspace-service', 'workspace-user'], 'a type of key is expected')),
  /** Beyond the reference: continues after this key instead of counting pages. */
  after: v.optional(id),
  ...usageFlags,
});
export type ListQuery = v.InferOutput<typeof listQuery>;

export const readQuery = v.strictObject({ ...tenantEntries, ...usageFlags });
export type ReadQuery = v.InferOutput<typeof readQuery>;

export const detailsQuery = v.strictObject({ include_organisation: queryFlag, include_workspace: queryFlag });

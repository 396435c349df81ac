import * as v from 'valibot';
import { futureTime, id, idOrSlug, name, notEnforced, pageEntries, tenantEntries, text, textMap } from '../../http/schemas.ts';

const defaults = v.strictObject({
  metadata: v.nullish(textMap),
  config_id: v.nullish(idOrSlug),
  allow_config_override: v.optional(v.boolean()),
});

const scopes = v.pipe(v.array(v.pipe(v.string(), v.maxLength(128))), v.maxLength(500, 'at most 500 scopes'));

const notYet = {
  rate_limits: notEnforced,
  usage_limits: notEnforced,
  reset_usage: notEnforced,
  alert_emails: notEnforced,
  rotation_policy: notEnforced,
};

export const createBody = v.strictObject({
  ...tenantEntries,
  ...notYet,
  name,
  description: v.nullish(text),
  user_id: v.optional(id),
  scopes: v.pipe(scopes, v.minLength(1, 'at least one scope')),
  defaults: v.nullish(defaults),
  expires_at: v.nullish(futureTime),
});

export const updateBody = v.strictObject({
  ...tenantEntries,
  ...notYet,
  name: v.optional(name),
  description: v.nullish(text),
  scopes: v.optional(v.pipe(scopes, v.minLength(1, 'at least one scope'))),
  defaults: v.nullish(defaults),
  expires_at: v.nullish(futureTime),
});

/** Shortest (and default) time for which both keys are good, in milliseconds. */
export const transitionMsMin = 1_800_000;

export const rotateBody = v.strictObject({
  ...tenantEntries,
  key_transition_period_ms: v.optional(
    v.pipe(
      v.number(),
      v.integer('a whole number is expected'),
      v.minValue(transitionMsMin, `at least ${transitionMsMin}`),
      v.maxValue(366 * 86_400_000, 'at most 366 days'),
    ),
    transitionMsMin,
  ),
});

export const listQuery = v.strictObject({
  ...tenantEntries,
  ...pageEntries,
  status: v.optional(v.picklist(['active', 'exhausted', 'expired'], 'active, exhausted or expired is expected')),
  ids: v.optional(
    v.pipe(v.string(), v.regex(/^[0-9a-fA-F-]{36}(,[0-9a-fA-F-]{36}){0,99}$/, 'at most 100 UUIDs separated by commas')),
  ),
});

export const readQuery = v.strictObject({
  ...tenantEntries,
  usage: v.optional(v.string()),
  include_usage: v.optional(v.string()),
});

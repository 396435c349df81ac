import * as v from 'valibot';

/** The plugin has no settings of its own: the lists of guardrails are keys of configs and targets. */
export const guardrailsConfig = v.optional(v.strictObject({}));

import * as v from 'valibot';

/** The plugin has no settings of its own: `cache` of a config and its targets shape the targets themselves. */
export const cacheConfig = v.optional(v.strictObject({}));

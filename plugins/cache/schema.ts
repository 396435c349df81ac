import * as v from 'valibot';

/** The plugin has no settings of its own: `cache` of a config and its targets shape the targets themselves (data-plane §4.2, §4.3). */
export const cacheConfig = v.optional(v.strictObject({}));

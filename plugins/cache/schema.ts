import * as v from 'valibot';

/** The `cache` of a config (data-plane §4.2); its form was checked with the rest of the config. Null: no cache. */
export const cacheConfig = v.optional(v.nullable(v.object({ mode: v.literal('simple'), max_age: v.optional(v.number()) })), null);

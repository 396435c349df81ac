import * as v from 'valibot';
import { name, pageEntries, slug, tenantEntries } from '../../http/schemas.ts';

const flag = v.union([v.picklist([0, 1]), v.boolean()], '0 or 1 is expected');
/** The config object, or its JSON as text. Its inside is checked by `checkConfig`. */
const config = v.union([v.record(v.string(), v.unknown()), v.string()], 'a config object is expected');

export const createBody = v.strictObject({
  ...tenantEntries,
  name,
  slug: v.optional(slug),
  config,
  isDefault: v.optional(flag),
  is_default: v.optional(flag),
});

export const updateBody = v.strictObject({
  ...tenantEntries,
  name: v.optional(name),
  config: v.optional(config),
  isDefault: v.optional(flag),
  is_default: v.optional(flag),
  status: v.optional(v.picklist(['active', 'archived'], 'active or archived is expected')),
});

export const listQuery = v.strictObject({ ...tenantEntries, ...pageEntries, return_last_used: v.optional(v.string()) });

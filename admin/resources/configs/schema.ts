import * as v from 'valibot';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { bit, bothEnvelopes, nullableTime, nullableUuid, time, uuid } from '../../http/reply/reply-schemas.ts';
import { name, pageEntries, queryFlag, search, slug, tenantEntries, unchanged } from '../../http/request/schemas.ts';
import { otherSpelling } from '../../openapi/to-json-schema.ts';

const flag = v.union([v.picklist([0, 1]), v.boolean()], '0 or 1 is expected');
/** The config object, or its JSON as text. `checkConfig` checks its content. */
const config = v.union([v.record(v.string(), v.unknown()), v.string()], 'a config object is expected');

export const createBody = v.strictObject({
  ...tenantEntries,
  name,
  slug: v.optional(slug),
  config,
  isDefault: v.optional(flag),
  is_default: v.optional(otherSpelling(flag)),
});

export const updateBody = v.strictObject({
  ...tenantEntries,
  slug: unchanged,
  name: v.optional(name),
  config: v.optional(config),
  isDefault: v.optional(flag),
  is_default: v.optional(otherSpelling(flag)),
  status: v.optional(oneOf(['active', 'archived'])),
});

export const listQuery = v.strictObject({
  ...tenantEntries,
  ...pageEntries,
  search,
  return_last_used: queryFlag,
});

const rowEntries = {
  id: uuid,
  name: v.string(),
  slug: v.string(),
  organisation_id: uuid,
  workspace_id: uuid,
  is_default: bit,
  status: v.picklist(['active', 'archived']),
  owner_id: nullableUuid,
  updated_by: nullableUuid,
  created_at: time,
  last_updated_at: time,
  object: v.literal('config'),
};

const versionEntries = {
  ...rowEntries,
  format: v.literal('json'),
  type: v.literal('ORG_CONFIG'),
  version_id: uuid,
};

/** The content of a config, in its own language. */
const content = v.record(v.string(), v.unknown());

export const listReply = v.strictObject({
  success: v.literal(true),
  object: v.literal('list'),
  total: v.number(),
  data: v.array(v.strictObject({ ...rowEntries, last_used_at: v.optional(nullableTime) })),
});

export const createReply = bothEnvelopes({ id: uuid, version_id: uuid, slug: v.string(), object: v.literal('config') });

export const readReply = bothEnvelopes({ ...versionEntries, config: content });

export const updateReply = bothEnvelopes({ version_id: uuid });

const versionFields = { version_created_at: time, version_owner_id: nullableUuid };

export const versionReply = bothEnvelopes({ ...versionEntries, config: content, ...versionFields });

/** In lists of versions the content is JSON as text. */
export const versionsReply = v.strictObject({
  object: v.literal('list'),
  total: v.number(),
  data: v.array(v.strictObject({ ...versionEntries, config: v.string(), ...versionFields })),
});

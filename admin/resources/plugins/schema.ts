import * as v from 'valibot';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { listOf, nullableText, time, uuid } from '../../http/reply/reply-schemas.ts';
import { id, name, pageEntries } from '../../http/request/schemas.ts';

/** Prefix of the ids of a partner's checks. */
const partner = v.pipe(
  v.string(),
  v.regex(/^[a-z][a-z0-9-]{0,63}$/, 'the prefix of checks of a partner is expected, such as lakera'),
);

const credentials = v.pipe(
  v.record(
    v.pipe(v.string(), v.regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, 'letters, digits and _ are expected')),
    v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(8_192, 'at most 8,192 characters')),
  ),
  v.check((value) => Object.keys(value).length <= 20, 'at most 20 credentials are allowed'),
);

const organisation = { organisation_id: v.optional(id) };

export const query = v.strictObject(organisation);

export const listQuery = v.strictObject({
  ...organisation,
  ...pageEntries,
});

export const createBody = v.strictObject({
  ...organisation,
  plugin_provider_id: partner,
  integration_id: v.optional(id),
  name: v.optional(name),
  credentials,
});

export const updateBody = v.strictObject({
  ...organisation,
  name: v.optional(name),
  status: v.optional(oneOf(['active', 'archived'])),
  credentials: v.optional(credentials),
});

const entries = {
  id: uuid,
  integration_id: uuid,
  integration_slug: v.string(),
  plugin_provider_id: v.string(),
  plugin_provider_slug: v.string(),
  name: nullableText,
  status: v.picklist(['active', 'archived']),
  /** Masked. */
  credentials: v.record(v.string(), v.string()),
  owner_id: uuid,
  created_at: time,
  last_updated_at: time,
  object: v.literal('plugin'),
};

export const pluginReply = v.strictObject(entries);
export const listReply = listOf(pluginReply);

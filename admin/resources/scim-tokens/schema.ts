import * as v from 'valibot';
import { futureTime, id, name, pageEntries, tenantEntries } from '../../http/request/schemas.ts';

export const organisationQuery = v.strictObject({ organisation_id: tenantEntries.organisation_id });
export const listQuery = v.strictObject({ organisation_id: tenantEntries.organisation_id, ...pageEntries });

export const createBody = v.strictObject({
  organisation_id: v.optional(id),
  name: v.optional(name, 'SCIM token'),
  expires_at: v.nullish(futureTime),
});

export const rotateBody = v.strictObject({
  organisation_id: v.optional(id),
  /** Time for which the old secret stays valid. 0: it ends at once. */
  transition_period_ms: v.optional(
    v.pipe(
      v.number(),
      v.integer('a whole number is expected'),
      v.minValue(0, 'at least 0'),
      v.maxValue(604_800_000, 'at most 604,800,000 (7 days)'),
    ),
    0,
  ),
  expires_at: v.nullish(futureTime),
});

const entries = {
  object: v.literal('scim-token'),
  id: v.string(),
  name: v.string(),
  last_characters: v.string(),
  previous_expires_at: v.nullable(v.string()),
  expires_at: v.nullable(v.string()),
  last_used_at: v.nullable(v.string()),
  created_at: v.string(),
  last_updated_at: v.string(),
};

export const tokenReply = v.strictObject(entries);
/** The only replies that contain the secret. */
export const newTokenReply = v.strictObject({ ...entries, token: v.string(), base_url: v.string() });
export const tokenListReply = v.strictObject({ object: v.literal('list'), total: v.number(), data: v.array(tokenReply) });

import * as v from 'valibot';
import { nullableText, uuid } from '../../http/reply-schemas.ts';
import { id, tenantEntries, wholeNumber } from '../../http/schemas.ts';

const access = v.picklist(['allow', 'deny'], 'allow or deny is expected');

/** Pages count from 1. */
export const userAccessQuery = v.strictObject({
  ...tenantEntries,
  page: v.optional(wholeNumber(1, 1_000_000), '1'),
  page_size: v.optional(wholeNumber(1, 500), '100'),
  search: v.optional(v.pipe(v.string(), v.maxLength(255, 'at most 255 characters'))),
});

export const userAccessBody = v.strictObject({
  ...tenantEntries,
  user_access: v.optional(
    v.pipe(v.array(v.strictObject({ user_id: id, enabled: v.boolean() })), v.maxLength(1_000, 'at most 1,000 users at once')),
  ),
  default_user_access: v.optional(access),
});

export const userAccessReply = v.strictObject({
  object: v.literal('list'),
  data: v.array(
    v.strictObject({
      user_id: uuid,
      first_name: nullableText,
      last_name: nullableText,
      enabled: v.boolean(),
      has_override: v.boolean(),
      /** State of the user's own account at the server. */
      connection_status: v.picklist(['connected', 'not_connected']),
    }),
  ),
  default_user_access: access,
  total: v.number(),
  has_more: v.boolean(),
});

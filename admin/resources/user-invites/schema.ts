import * as v from 'valibot';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { unusedScopes } from '../../access/scopes.ts';
import { withoutEffect } from '../../http/reply/unused-settings.ts';
import { id, pageEntries, tenantEntries, textMap } from '../../http/request/schemas.ts';
import { email } from '../../identity/schema.ts';
import { memberships } from '../users/schema.ts';

const role = oneOf(['admin', 'member']);
const statuses = ['pending', 'cancelled', 'accepted', 'expired'] as const;

export const listQuery = v.strictObject({
  organisation_id: tenantEntries.organisation_id,
  ...pageEntries,
  role: v.optional(role),
  email: v.optional(email),
  status: v.optional(oneOf(statuses)),
  search: v.optional(v.pipe(v.string(), v.maxLength(254, 'at most 254 characters'))),
});
export type ListQuery = v.InferOutput<typeof listQuery>;

export const createBody = v.strictObject({
  organisation_id: v.optional(id),
  email,
  workspaces: v.optional(memberships, []),
  role,
  workspace_api_key_details: v.nullish(
    v.strictObject({
      scopes: withoutEffect(
        v.pipe(
          v.array(v.pipe(v.string(), v.maxLength(128))),
          v.minLength(1, 'at least one scope'),
          v.maxLength(500, 'at most 500 scopes'),
        ),
        unusedScopes,
      ),
      defaults: v.nullish(v.strictObject({ metadata: v.optional(textMap, {}) })),
    }),
  ),
});
export type CreateBody = v.InferOutput<typeof createBody>;

export const inviteReply = v.strictObject({
  object: v.literal('invite'),
  id: v.string(),
  email: v.string(),
  role: v.picklist(['owner', 'admin', 'member']),
  created_at: v.string(),
  expires_at: v.string(),
  accepted_at: v.nullable(v.string()),
  status: v.picklist(statuses),
  invited_by: v.nullable(v.string()),
});

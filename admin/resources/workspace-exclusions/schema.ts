import * as v from 'valibot';
import { id, idOrSlug } from '../../http/request/schemas.ts';

export const updateBody = v.strictObject({
  organisation_id: v.optional(id),
  workspaces: v.pipe(
    v.array(v.strictObject({ workspace_id: idOrSlug, excluded: v.boolean() })),
    v.maxLength(1_000, 'at most 1,000 workspaces'),
  ),
  override_existing: v.optional(v.boolean(), false),
});

export const listReply = v.strictObject({
  object: v.literal('list'),
  total: v.number(),
  data: v.array(
    v.strictObject({
      workspace_id: v.string(),
      slug: v.string(),
      name: v.string(),
      excluded: v.literal(true),
      created_at: v.string(),
    }),
  ),
});

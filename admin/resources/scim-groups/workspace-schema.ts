import * as v from 'valibot';
import { id, idOrSlug, search, tenantEntries, wholeNumber } from '../../http/request/schemas.ts';
import { groupRoles } from './entity.ts';
import { displayName } from './schema.ts';

const role = v.pipe(
  v.string(),
  v.metadata({ jsonSchema: { enum: groupRoles } }),
  v.toLowerCase(),
  v.picklist(groupRoles, 'admin, manager or member is expected'),
);

/** Pages count from 0. `page` is another name of `current_page`, which clients of the reference send. */
const pages = {
  page: v.optional(wholeNumber(0, 1_000_000)),
  current_page: v.optional(wholeNumber(0, 1_000_000)),
  page_size: v.optional(wholeNumber(1, 100), '100'),
};

export const mappingQuery = v.strictObject({
  organisation_id: tenantEntries.organisation_id,
  ...pages,
  // Lists match the id only, as the reference does. The tenant of the route is the organisation.
  workspace_id: v.optional(idOrSlug),
  scim_group_id: v.optional(id),
  role: v.optional(role),
});

export const groupQuery = v.strictObject({
  organisation_id: tenantEntries.organisation_id,
  ...pages,
  search,
});

export const organisationQuery = v.strictObject({ organisation_id: tenantEntries.organisation_id });

export const mappingBody = v.pipe(
  v.strictObject({
    organisation_id: v.optional(id),
    workspace_id: idOrSlug,
    role,
    scim_group_id: v.optional(id),
    scim_group_name: v.optional(displayName),
  }),
  v.forward(
    v.check(
      (body) => (body.scim_group_id === undefined) !== (body.scim_group_name === undefined),
      'send either scim_group_id or scim_group_name',
    ),
    ['scim_group_id'],
  ),
);

export const mappingReply = v.strictObject({
  id: v.string(),
  workspace_id: v.string(),
  scim_group: v.string(),
  scim_group_id: v.string(),
  role: v.picklist(groupRoles),
});

const pageEntries = { total_count: v.number(), page: v.number(), page_size: v.number() };

export const mappingListReply = v.strictObject({ mappings: v.array(mappingReply), ...pageEntries });
export const groupListReply = v.strictObject({
  groups: v.array(
    v.strictObject({ id: v.string(), name: v.string(), external_id: v.nullable(v.string()), created_at: v.string() }),
  ),
  ...pageEntries,
});

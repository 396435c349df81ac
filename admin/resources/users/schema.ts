import * as v from 'valibot';
import { organisationRoles, workspaceRoles } from '../../access/roles.ts';
import { id, idOrSlug, tenantEntries } from '../../http/schemas.ts';
import { email, personName } from '../../identity/schema.ts';

const role = v.picklist(organisationRoles, 'owner, admin or member is expected');

const wholeNumber = (most: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,9}$/, 'a whole number is expected'),
    v.transform(Number),
    v.maxValue(most, `at most ${most}`),
  );

/** Both spellings of paging that the reference has; the snake-case one counts when both are there. */
export const eitherPageEntries = {
  current_page: v.optional(wholeNumber(1_000_000)),
  page_size: v.optional(wholeNumber(100)),
  currentPage: v.optional(wholeNumber(1_000_000)),
  pageSize: v.optional(wholeNumber(100)),
};

/** Limit and offset of a page in either spelling. */
export function eitherPageOf(query: {
  readonly current_page?: number | undefined;
  readonly page_size?: number | undefined;
  readonly currentPage?: number | undefined;
  readonly pageSize?: number | undefined;
}): { limit: number; offset: number } {
  const limit = query.page_size ?? query.pageSize ?? 100;
  return { limit, offset: (query.current_page ?? query.currentPage ?? 0) * limit };
}

export const organisationQuery = v.strictObject({ organisation_id: tenantEntries.organisation_id });

export const listQuery = v.strictObject({
  organisation_id: tenantEntries.organisation_id,
  ...eitherPageEntries,
  role: v.optional(role),
  email: v.optional(email),
});

const workspaceRole = v.picklist(workspaceRoles, 'admin, manager, member or viewer is expected');
const tooMany = 'at most 500 workspaces';

/** Places of somebody new in workspaces, each named once. */
export const places = v.pipe(
  v.array(v.strictObject({ id: idOrSlug, role: v.optional(workspaceRole, 'member') })),
  v.maxLength(500, tooMany),
);
export type Place = v.InferOutput<typeof places>[number];

export const createBody = v.strictObject({
  organisation_id: v.optional(id),
  email,
  first_name: personName,
  last_name: personName,
  role: v.optional(role, 'member'),
  workspaces: v.optional(places, []),
});

export const updateBody = v.strictObject({
  organisation_id: v.optional(id),
  role: v.optional(role),
  first_name: personName,
  last_name: personName,
  // With their roles: without one nobody could tell whether it is to stay as it is.
  workspaces: v.optional(v.pipe(v.array(v.strictObject({ id: idOrSlug, role: workspaceRole })), v.maxLength(500, tooMany))),
});

export const emailBody = v.strictObject({ organisation_id: v.optional(id), email });

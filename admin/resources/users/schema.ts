import * as v from 'valibot';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { organisationRoles, workspaceRoles } from '../../http/caller/actor.ts';
import { id, idOrSlug, pageEntries, tenantEntries } from '../../http/request/schemas.ts';
import { email, personName, userReply } from '../../identity/schema.ts';

const role = oneOf(organisationRoles);

export const organisationQuery = v.strictObject({ organisation_id: tenantEntries.organisation_id });

export const listQuery = v.strictObject({
  organisation_id: tenantEntries.organisation_id,
  ...pageEntries,
  role: v.optional(role),
  email: v.optional(email),
});

const workspaceRole = oneOf(workspaceRoles);
const tooMany = 'at most 500 workspaces';

/** Workspaces of a new user, each named once. */
export const memberships = v.pipe(
  v.array(v.strictObject({ id: idOrSlug, role: v.optional(workspaceRole, 'member') })),
  v.maxLength(500, tooMany),
);

export const createBody = v.strictObject({
  organisation_id: v.optional(id),
  email,
  first_name: personName,
  last_name: personName,
  role: v.optional(role, 'member'),
  workspaces: v.optional(memberships, []),
});

export const updateBody = v.strictObject({
  organisation_id: v.optional(id),
  role: v.optional(role),
  first_name: personName,
  last_name: personName,
  // Each entry includes the role. Without it, an unchanged role could not be distinguished from the default.
  workspaces: v.optional(v.pipe(v.array(v.strictObject({ id: idOrSlug, role: workspaceRole })), v.maxLength(500, tooMany))),
});

export const emailBody = v.strictObject({ organisation_id: v.optional(id), email });

/** A page of members. */
export const userListReply = v.strictObject({ total: v.number(), object: v.literal('list'), data: v.array(userReply) });

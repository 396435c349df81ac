import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { announceUserKeys } from '../../announce/user-keys.ts';
import { announceUser, announceUsers } from '../../announce/users.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { forbidden, notFound } from '../../http/errors.ts';
import { validate } from '../../http/request/validate.ts';
import { noteRemovedUser } from '../../identity/jwt/removed-users.ts';
import { endLinks } from '../../identity/links.ts';
import { email as emailSchema } from '../../identity/schema.ts';
import type { Dependents } from '../../publish/dependents.ts';
import type { Change } from '../../publish/write-change.ts';
import { ScimError } from '../../scim/scim-error.ts';
import { type DirectoryAttributes, type User, users, withDeactivated } from '../users/entity.ts';
import { endAccess } from '../users/service.ts';
import type { Making } from '../workspace-users/memberships.ts';
import { type DirectoryUser, directoryUser } from './attributes.ts';
import { checkDirectoryEmail } from './check-domain.ts';
import { followGroups } from './follow-groups.ts';
import { toDirectoryUser } from './to-resource.ts';

/** A user of the organisation, active or not. Throws AB08. */
export async function findDirectoryUser(em: EntityManager, organisationId: string, id: string): Promise<User> {
  const options = { ...withDeactivated, populate: ['directory'] as const };
  const row = isUuid(id) ? await em.findOne(users, { id, organisationId }, options) : null;
  if (!row) throw notFound('User');
  return row;
}

/** Adds a user with the role of a member. Throws `uniqueness` if the name or e-mail is taken. */
export async function createDirectoryUser(
  change: Change,
  organisationId: string,
  sent: DirectoryUser,
  making: Making,
): Promise<User> {
  const now = new Date(making.now);
  const accountEmail = emailOf(sent, null);
  await checkDirectoryEmail(change.tx, organisationId, accountEmail);
  await requireFree(change.tx, organisationId, sent.userName, accountEmail, null);
  const row = change.tx.create(users, {
    id: newId(),
    organisationId,
    email: accountEmail,
    emailVerifiedAt: null,
    firstName: null,
    lastName: null,
    role: 'member',
    passwordHash: null,
    deactivatedAt: sent.active === false ? now : null,
    userName: sent.userName,
    externalId: null,
    directory: {},
    createdAt: now,
    lastUpdatedAt: now,
  });
  assign(row, sent);
  await change.tx.flush();
  await announceUsers(change, { organisationId, workspaceId: null, userId: row.id });
  change.about(row);
  return row;
}

/** True if the row already has these attributes. Writing nothing then keeps a repeated sync cheap. */
export function isUnchanged(row: User, { groups: _, ...sent }: DirectoryUser): boolean {
  const now = toDirectoryUser(row);
  return row.userName !== null && isDeepStrictEqual(now, { ...sent, active: sent.active ?? now.active });
}

/**
 * Replaces the attributes of a user. A deactivated user loses API keys, sessions, links and memberships in this transaction; an
 * activated one regains the memberships of their groups. Throws AB03 for changes to an owner that could take the account away.
 */
export async function updateDirectoryUser(
  change: Change,
  row: User,
  sent: DirectoryUser,
  making: Making,
  dependents: Dependents,
): Promise<void> {
  const { organisationId, id: userId } = row;
  const accountEmail = emailOf(sent, row.email);
  const isActive = sent.active ?? !row.deactivatedAt;
  if (!isActive && !row.deactivatedAt) requireNoOwner(row, 'active');
  if (accountEmail !== row.email) {
    requireNoOwner(row, 'emails');
    await checkDirectoryEmail(change.tx, organisationId, accountEmail);
  }
  await requireFree(change.tx, organisationId, sent.userName, accountEmail, userId);
  const before = { email: row.email, isActive: !row.deactivatedAt };
  assign(row, sent);
  row.userName = sent.userName;
  row.email = accountEmail;
  if (before.email !== accountEmail) {
    row.emailVerifiedAt = null;
    // They were mailed to the previous address, whose mailbox may now belong to another person.
    await endLinks(change.tx, row);
    await noteRemovedUser(change.tx, { organisationId, email: before.email });
  }
  row.deactivatedAt = isActive ? null : (row.deactivatedAt ?? new Date(making.now));
  row.lastUpdatedAt = new Date(making.now);
  change.about({ id: userId });
  if (before.isActive && !isActive) await endAccess(change, row, dependents);
  await change.tx.flush();
  if (before.email !== accountEmail) announceUser(change, organisationId, before.email);
  if (isActive && !before.isActive) await followGroups(change, organisationId, { userIds: [userId], workspaceIds: null }, making);
  // Records of requests with their keys hold the name.
  if (isActive) await announceUserKeys(change, { organisationId, workspaceId: null, userId });
  await announceUsers(change, { organisationId, workspaceId: null, userId });
}

/** Removes a user with everything that belongs to them. Throws AB03 for owners. */
export async function deleteDirectoryUser(change: Change, row: User, dependents: Dependents): Promise<void> {
  requireNoOwner(row, 'user');
  await endAccess(change, row, dependents);
  await noteRemovedUser(change.tx, row);
  change.tx.remove(row);
  change.about(row);
}

/** Directories provision members. They cannot change the owners of the organisation. */
function requireNoOwner(row: User, field: string): void {
  if (row.role !== 'owner') return;
  throw forbidden(`${field}: an owner of the organisation cannot be removed or renamed by the directory. Change the role first`);
}

/** Validates attributes after a PATCH. */
export function readAttributes(attributes: unknown): DirectoryUser {
  return validate(directoryUser, attributes, 'body');
}

/** The e-mail of the account: the primary address, the one of type work, the first one, or the user name if it is an address. */
function emailOf(sent: DirectoryUser, current: string | null): string {
  const { emails } = sent;
  const chosen = emails.find((one) => one.primary) ?? emails.find((one) => one.type?.toLowerCase() === 'work') ?? emails[0];
  if (chosen) return chosen.value;
  const fromName = v.safeParse(emailSchema, sent.userName);
  if (fromName.success) return fromName.output;
  if (current !== null) return current;
  throw new ScimError('invalidValue', 'emails: an address is required if userName is not an e-mail address');
}

async function requireFree(
  em: EntityManager,
  organisationId: string,
  userName: string,
  accountEmail: string,
  own: string | null,
): Promise<void> {
  const [taken] = await em.execute<{ is_email: boolean }[]>(
    `select email = ? as is_email from users
     where organisation_id = ? and (email = ? or lower(coalesce(user_name, email)) = lower(?::text)) and id is distinct from ?::uuid
     limit 1`,
    [accountEmail, organisationId, accountEmail, userName, own],
  );
  if (taken) throw new ScimError('uniqueness', `${taken.is_email ? 'emails' : 'userName'}: another user already has this value`);
}

function assign(row: User, sent: DirectoryUser): void {
  row.firstName = sent.name?.givenName ?? null;
  row.lastName = sent.name?.familyName ?? null;
  row.externalId = sent.externalId ?? null;
  const { displayName, title, emails } = sent;
  const formatted = sent.name?.formatted;
  // A new object, because the ORM detects a change of a JSON column by its identity.
  const next = {
    ...(displayName ? { displayName } : {}),
    ...(title ? { title } : {}),
    ...(formatted ? { formatted } : {}),
    emails,
  };
  if (!isDeepStrictEqual(row.directory, next)) row.directory = next as DirectoryAttributes;
}

import type * as v from 'valibot';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { closeUser } from '../../access/hold-user.ts';
import { requireMemberships, requireRank } from '../../access/require-rank.ts';
import { roleChanged } from '../../access/role-changed.ts';
import { announceUserKeys } from '../../announce/user-keys.ts';
import { announceUser, announceUsers } from '../../announce/users.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { conflict, notFound } from '../../http/errors.ts';
import { noteRemovedUser } from '../../identity/jwt/removed-users.ts';
import { endLinks } from '../../identity/links.ts';
import { endSessions } from '../../identity/sessions.ts';
import type { Dependents } from '../../publish/dependents.ts';
import type { Change } from '../../publish/write-change.ts';
import { workspaceMembers } from '../workspace-users/entity.ts';
import { findMemberships, type Making, setMemberships } from '../workspace-users/memberships.ts';
import { checkEmailDomain } from './check-email-domain.ts';
import { type User, users, withDeactivated } from './entity.ts';
import type { createBody, updateBody } from './schema.ts';

/** Adds a user without a password. Throws AB07 if the organisation already has a user with this e-mail. */
export async function createUser(
  change: Change,
  actor: Actor,
  body: v.InferOutput<typeof createBody>,
  making: Making,
): Promise<User> {
  const { organisationId } = actor;
  requireRank(actor, body.role);
  await checkEmailDomain(change.tx, organisationId, body.email);
  const memberships = await findMemberships(change.tx, organisationId, body.workspaces);
  await requireMemberships(change.tx, actor, memberships);
  const user = await insertUser(
    change,
    { ...body, organisationId, firstName: body.first_name, lastName: body.last_name },
    making.now,
  );
  await setMemberships(change, user, memberships, making);
  change.about(user);
  return user;
}

/** Returns the row of a new user. Throws AB07 if there is one with this e-mail. */
export async function insertUser(
  change: Change,
  sent: Pick<User, 'organisationId' | 'email' | 'role'> & {
    readonly firstName?: string | null | undefined;
    readonly lastName?: string | null | undefined;
    readonly passwordHash?: string;
  },
  now: number,
): Promise<User> {
  const { organisationId, email } = sent;
  await requireFreeEmail(change.tx, organisationId, email);
  const user = change.tx.create(users, {
    id: newId(),
    organisationId,
    email,
    emailVerifiedAt: null,
    firstName: sent.firstName || null,
    lastName: sent.lastName || null,
    role: sent.role,
    passwordHash: sent.passwordHash ?? null,
    createdAt: new Date(now),
    lastUpdatedAt: new Date(now),
  });
  await change.tx.flush();
  await announceUsers(change, { organisationId, workspaceId: null, userId: user.id });
  return user;
}

/** Throws AB07 if the organisation has a user with this e-mail, active or not. */
export async function requireFreeEmail(em: EntityManager, organisationId: string, email: string): Promise<void> {
  const taken = await em.findOne(users, { organisationId, email }, withDeactivated);
  if (taken?.deactivatedAt) throw conflict('The directory has deactivated the user with this e-mail. Activate the user there');
  if (taken) throw conflict('A user with this e-mail already exists');
}

/**
 * Updates the sent fields. `workspaces` adds memberships and changes roles in the named workspaces; others stay. Throws AB03
 * above the actor's own rank and AB07 if the organisation would lose its last owner.
 */
export async function updateUser(
  change: Change,
  actor: Actor,
  user: User,
  body: v.InferOutput<typeof updateBody>,
  making: Making,
): Promise<void> {
  requireRank(actor, user.role);
  if (body.first_name !== undefined) user.firstName = body.first_name || null;
  if (body.last_name !== undefined) user.lastName = body.last_name || null;
  const roleIsNew = body.role !== undefined && body.role !== user.role;
  if (body.role !== undefined && roleIsNew) {
    requireRank(actor, body.role);
    if (user.role === 'owner') await keepAnOwner(change.tx, user);
    user.role = body.role;
  }
  user.lastUpdatedAt = new Date(making.now);
  await change.tx.flush();
  if (body.workspaces) {
    const memberships = await findMemberships(change.tx, user.organisationId, body.workspaces);
    await requireMemberships(change.tx, actor, memberships);
    await setMemberships(change, user, memberships, making);
  }
  if (roleIsNew) await roleChanged(change, user, null);
  // Records of requests with their keys hold the name.
  await announceUserKeys(change, { organisationId: user.organisationId, workspaceId: null, userId: user.id });
  change.about(user);
}

/**
 * Removes a user. Their API keys, sessions, links and memberships end with the change. Keys they granted to others keep their scopes.
 */
export async function deleteUser(change: Change, actor: Actor, user: User, dependents: Dependents): Promise<void> {
  const { id } = user;
  requireRank(actor, user.role);
  if (user.role === 'owner') await keepAnOwner(change.tx, user);
  await endAccess(change, user, dependents);
  await noteRemovedUser(change.tx, user);
  // Foreign keys delete sessions, links and memberships.
  change.tx.remove(user);
  change.about({ id });
}

/**
 * Ends what gives a user access, in the transaction of the change: API keys, sessions, links and memberships. The row stays.
 */
export async function endAccess(change: Change, user: User, dependents: Dependents): Promise<void> {
  const { tx } = change;
  const { organisationId, id: userId } = user;
  await closeUser(tx, organisationId, userId);
  for (const { remove } of dependents.user) await remove?.(change, user, dependents);
  await tx.nativeDelete(workspaceMembers, { organisationId, userId });
  await endLinks(tx, user);
  await endSessions(tx, user, null);
  // Always announce: a removed user is no longer in the list that is announced when the organisation enables JWT authentication
  // again.
  announceUser(change, organisationId, user.email);
}

/** A user of the caller's organisation by id. Throws AB08. */
export async function findUser(em: EntityManager, organisationId: string, id: string): Promise<User> {
  const found = isUuid(id) ? await em.findOne(users, { id, organisationId }) : null;
  if (!found) throw notFound('User');
  return found;
}

/** Locks the owners. A concurrent second removal waits here and then sees the result of the first. */
async function keepAnOwner(tx: EntityManager, user: User): Promise<void> {
  const owners = await tx.execute<{ id: string }[]>(
    "select id from users where organisation_id = ? and role = 'owner' and deactivated_at is null order by id for update",
    [user.organisationId],
  );
  if (!owners.some((owner) => owner.id !== user.id)) throw conflict('This is the last owner of the organisation');
}

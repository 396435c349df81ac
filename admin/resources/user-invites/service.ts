import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { requireMemberships, requireRank } from '../../access/require-rank.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor, OrganisationRole } from '../../http/caller/actor.ts';
import { AdminError, conflict, notFound } from '../../http/errors.ts';
import { linkTo } from '../../identity/links.ts';
import { hashOf, newSecret } from '../../identity/one-time-secret.ts';
import { withdrawMails } from '../../mail/add-mails.ts';
import type { Change } from '../../publish/write-change.ts';
import { checkMetadata } from '../api-keys/check-metadata.ts';
import { checkScopes } from '../api-keys/grants.ts';
import { checkEmailDomain } from '../users/check-email-domain.ts';
import { requireFreeEmail } from '../users/service.ts';
import { type FoundMembership, findMemberships } from '../workspace-users/memberships.ts';
import { currentGrantor } from './current-grantor.ts';
import { type InvitedKey, type UserInvite, userInvites } from './entity.ts';
import { invitedMemberships } from './join-workspaces.ts';
import type { CreateBody } from './schema.ts';

/** Settings and time for invites. */
export interface Inviting {
  readonly publicUrl: string;
  readonly inviteSeconds: number;
  readonly now: number;
}

/** Invites a user. Throws AB07 if they are already a member or invited. */
export async function createInvite(
  change: Change,
  actor: Actor,
  body: CreateBody,
  inviting: Inviting,
): Promise<{ row: UserInvite; link: string }> {
  const { organisationId } = actor;
  await checkEmailDomain(change.tx, organisationId, body.email);
  const memberships = await findMemberships(change.tx, organisationId, body.workspaces);
  const details = body.workspace_api_key_details;
  const apiKey = details ? { scopes: [...new Set(details.scopes)], metadata: details.defaults?.metadata ?? {} } : null;
  await requireGrant(change.tx, actor, { organisationId, role: body.role, workspaces: memberships, apiKey });
  if (apiKey) {
    await checkMetadata(change.tx, organisationId, apiKey.metadata, 'workspace_api_key_details.defaults.metadata');
  }
  await requireFreeEmail(change.tx, organisationId, body.email);
  return insertInvite(
    change,
    { organisationId, email: body.email, role: body.role, memberships: memberships, apiKey, invitedBy: inviterOf(actor) },
    inviting,
  );
}

/**
 * Throws AB03 unless the actor may grant everything in the invite. Checked when it is created and when it is sent again. Also
 * checked for the inviter when it is accepted, because the inviter's rights may have shrunk since.
 */
async function requireGrant(
  em: EntityManager,
  actor: Actor,
  invite: Pick<UserInvite, 'organisationId' | 'role' | 'workspaces' | 'apiKey'>,
): Promise<void> {
  const { role, apiKey } = invite;
  requireRank(actor, role);
  await requireMemberships(em, actor, await invitedMemberships(em, invite));
  if (apiKey) checkScopes(actor, 'workspace-user', apiKey.scopes, 'workspace_api_key_details.scopes');
}

/** Returns true if the sender of the invite may still send it. An invite of the first start needs no grant. */
export async function isStillGranted(em: EntityManager, row: UserInvite, now: number): Promise<boolean> {
  if (row.invitedBy === null || row.invitedBy === undefined) return true;
  const inviter = await currentGrantor(em, row.organisationId, row.invitedBy, now);
  if (!inviter || !invitingScopes.some((scope) => inviter.scopes.has(scope))) return false;
  try {
    await checkEmailDomain(em, row.organisationId, row.email);
    await requireGrant(em, inviter, row);
    return true;
  } catch (thrown) {
    if (thrown instanceof AdminError && thrown.status < 500) return false;
    throw thrown;
  }
}

/** Scopes for sending an invite again; one of them is enough. */
export const invitingScopes = ['organisation_users.create', 'organisation_users.update'];

function inviterOf(actor: Actor): string {
  return actor.userId ?? actor.keyId;
}

/** Returns the row of a new invite and its link, which is not stored. Throws AB07 while another one is pending. */
export async function insertInvite(
  change: Change,
  sent: {
    readonly organisationId: string;
    readonly email: string;
    readonly role: OrganisationRole;
    readonly memberships: readonly FoundMembership[];
    readonly apiKey: InvitedKey | null;
    readonly invitedBy: string | null;
  },
  inviting: Inviting,
): Promise<{ row: UserInvite; link: string }> {
  const { organisationId, email } = sent;
  await requireNonePending(change.tx, { organisationId, email }, inviting.now);
  const token = newSecret('svc_invite_');
  const row = change.tx.create(userInvites, {
    id: newId(),
    organisationId,
    email,
    role: sent.role,
    workspaces: [...sent.memberships],
    apiKey: sent.apiKey,
    tokenHash: hashOf(token),
    status: 'pending',
    invitedBy: sent.invitedBy,
    createdAt: new Date(inviting.now),
    expiresAt: endOf(inviting),
    acceptedAt: null,
  });
  change.about(row);
  return { row, link: linkTo(inviting, 'accept-invite', token) };
}

/** Ends an invite for this e-mail that has expired, because only one may be pending. Throws AB07 while one is valid. */
async function requireNonePending(
  tx: EntityManager,
  { organisationId, email }: Pick<UserInvite, 'organisationId' | 'email'>,
  now: number,
): Promise<void> {
  const before = await tx.findOne(userInvites, { organisationId, email, status: 'pending' });
  if (!before) return;
  if (before.expiresAt.getTime() > now) throw conflict('An invite for this e-mail already exists');
  before.status = 'expired';
  await tx.flush();
}

/**
 * Creates a new link with a new lifetime; the previous one stops working. The actor becomes the inviter. Throws AB07 for an
 * accepted or cancelled invite, and if there is a user with its e-mail by now.
 */
export async function resendInvite(change: Change, actor: Actor, row: UserInvite, inviting: Inviting): Promise<string> {
  await checkEmailDomain(change.tx, row.organisationId, row.email);
  // The link lets its holder become this user.
  await requireGrant(change.tx, actor, row);
  if (row.status === 'accepted' || row.status === 'cancelled') throw conflict(`This invite has been ${row.status}`);
  await requireFreeEmail(change.tx, row.organisationId, row.email);
  if (row.status === 'expired') await requireNonePending(change.tx, row, inviting.now);
  const token = newSecret('svc_invite_');
  row.tokenHash = hashOf(token);
  row.status = 'pending';
  row.invitedBy = inviterOf(actor);
  row.expiresAt = endOf(inviting);
  change.about(row);
  return linkTo(inviting, 'accept-invite', token);
}

/**
 * Marks an invite as accepted. A mail with its link that waits is not sent: the link was in a reply as well. If two requests accept the invite
 * concurrently, its revision lets one succeed.
 */
export async function markAccepted(tx: EntityManager, row: UserInvite, now: number): Promise<void> {
  row.status = 'accepted';
  row.acceptedAt = new Date(now);
  await tx.flush();
  await withdrawMails(tx, row.organisationId, 'invite', row.id);
}

/** Cancels an invite. A mail with its link that waits is not sent. Cancelling it again changes nothing. Throws AB07 once it is accepted. */
export async function cancelInvite(change: Change, actor: Actor, row: UserInvite): Promise<void> {
  requireRank(actor, row.role);
  if (row.status === 'accepted') throw conflict('This invite has been accepted. Remove the user instead');
  row.status = 'cancelled';
  await withdrawMails(change.tx, row.organisationId, 'invite', row.id);
  change.about(row);
}

/** An invite of the caller's organisation by id. Throws AB08. */
export async function findInvite(em: EntityManager, organisationId: string, id: string): Promise<UserInvite> {
  const found = isUuid(id) ? await em.findOne(userInvites, { id, organisationId }) : null;
  if (!found) throw notFound('Invite');
  return found;
}

/** Returns the state that callers see. */
export function inviteStatus(row: UserInvite, now: number): UserInvite['status'] {
  return row.status === 'pending' && row.expiresAt.getTime() <= now ? 'expired' : row.status;
}

function endOf({ now, inviteSeconds }: Inviting): Date {
  return new Date(now + inviteSeconds * 1_000);
}

import { LockMode } from '@mikro-orm/core';
import { newId } from '../db/new-id.ts';
import type { EntityManager } from '../db/open-database.ts';
import { AdminError } from '../http/errors.ts';
import type { PublicCall } from '../http/public-route.ts';
import type { Change } from '../publish/write-change.ts';
import { organisations } from '../resources/organisations/entity.ts';
import { signIn } from '../resources/sessions/sign-in.ts';
import {
  type ConnectionType,
  type ExternalIdentity,
  externalIdentities,
  type SsoConnection,
  ssoConnections,
} from '../resources/sso-connections/entity.ts';
import { userInvites } from '../resources/user-invites/entity.ts';
import { joinWorkspaces } from '../resources/user-invites/join-workspaces.ts';
import { isStillGranted, markAccepted } from '../resources/user-invites/service.ts';
import { checkEmailDomain } from '../resources/users/check-email-domain.ts';
import { type User, users, withDeactivated } from '../resources/users/entity.ts';
import { insertUser } from '../resources/users/service.ts';
import { addMember, type Making } from '../resources/workspace-users/memberships.ts';
import { workspaces } from '../resources/workspaces/entity.ts';
import type { SealContext } from '../secrets/vault.ts';
import { applyGroups, matchingRules, roleByGroups } from './apply-groups.ts';
import { linkedBefore, requireSameEmail, withAddresses } from './changed-emails.ts';
import { isInVerifiedDomain } from './find-connections.ts';
import { auditRefusals, SignInRefusal } from './refusal.ts';

/** A provider's statement about a user, after every check of the protocol. */
export interface VerifiedIdentity {
  readonly organisationId: string;
  readonly connectionId: string;
  readonly type: ConnectionType;
  readonly issuer: string;
  /** `sub` or the `NameID`: an id that the provider never reassigns, except an e-mail. */
  readonly subject: string;
  /** True: the subject is the e-mail, which the provider changes with the user's name and may give to another person. */
  readonly subjectIsEmail: boolean;
  readonly email: string | null;
  readonly emailVerified: boolean;
  /** Null: the provider states that it has groups of the user, but does not send them. */
  readonly groups: readonly string[] | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
  /** Id of the session at the provider: `sid` or `SessionIndex`. */
  readonly providerSession: string | null;
  /** Time after which the session must not be used, in milliseconds; null: the provider states none. */
  readonly sessionEndsAt: number | null;
  /** Kept sealed for the logout at the provider: the ID token, or the NameID as JSON. */
  readonly logoutHint: string;
}

type IdentityWithGroups = VerifiedIdentity & { readonly groups: readonly string[] };

type Call = Pick<PublicCall<never>, 'services' | 'em' | 'clientIp' | 'userAgent' | 'header' | 'write' | 'auditRefusal'>;

/**
 * Signs the user of a verified identity in: finds the account by `(type, issuer, subject)`, else links or creates one by a verified
 * e-mail in a verified domain of the organisation. Returns the reply of a sign-in and sets the session cookie. Throws SignInRefusal,
 * with an audit entry.
 */
export async function finishSignIn(call: Call, identity: VerifiedIdentity) {
  const { organisationId, connectionId, type, issuer, subject } = identity;
  const details = { issuer, subject, email: identity.email };
  return auditRefusals(call, { organisationId, connectionId, details }, async () => {
    const known = await call.em.findOne(externalIdentities, { organisationId, type, issuer, subject });
    return call.write({ organisationId, userId: known?.userId ?? null }, async (change) => {
      // Locked, so that no session begins while the connection is being disabled.
      const where = { id: connectionId, organisationId, isEnabled: true };
      const connection = await change.tx.findOne(ssoConnections, where, { lockMode: LockMode.PESSIMISTIC_READ });
      if (!connection) throw new SignInRefusal('connection_disabled', 'This connection is disabled or was deleted');
      const groups = requireGroups(connection, identity);
      const making = { apiKeyPepper: call.services.apiKeyPepper, now: call.services.clock.now() };
      const { row, user } = await accountOf(change, connection, { ...identity, groups }, making);
      change.by(user);
      row.lastSignInAt = new Date(making.now);
      row.connectionId = connectionId;
      await applyGroups(change, connection, user, row, groups, making);
      // The attempt is bound to this browser, so the redirect from the provider may set the cookie.
      return signIn(change, { ...call, origin: 'same' }, user, {
        connectionId,
        identityId: row.id,
        providerSession: identity.providerSession,
        endsAt: identity.sessionEndsAt,
        logoutHint: await call.services.vault.seal(change.tx, logoutHintContext(row), identity.logoutHint),
      });
    });
  });
}

/** Makes first sign-ins of one e-mail wait for each other until their transactions end, so that the later ones find the account. */
async function oneAtATime(tx: Change['tx'], { organisationId, email }: VerifiedIdentity): Promise<void> {
  await tx.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`sign-in/${organisationId}/${email}`]);
}

/**
 * Entra ID leaves groups out if a user has more than 200 of them (150 in SAML). Rules would then take the user's rights away. Throws
 * SignInRefusal.
 */
function requireGroups({ groupRules }: SsoConnection, { groups }: VerifiedIdentity): readonly string[] {
  if (groups !== null || groupRules.length === 0) return groups ?? [];
  throw new SignInRefusal(
    'groups_not_sent',
    'The user has too many groups for the identity provider to send. Let it send only the groups that are assigned to this service',
  );
}

interface Account {
  readonly row: ExternalIdentity;
  readonly user: User;
}

async function accountOf(
  change: Change,
  connection: SsoConnection,
  identity: IdentityWithGroups,
  making: Making,
): Promise<Account> {
  const { organisationId, type, issuer, subject } = identity;
  const find = () => change.tx.findOne(externalIdentities, { organisationId, type, issuer, subject });
  const row = (await find()) ?? (await oneAtATime(change.tx, identity).then(find));
  if (row) {
    const user = await change.tx.findOne(users, { id: row.userId, organisationId }, withAddresses);
    if (!user) throw isDeactivated();
    requireSameEmail(user, identity);
    return { row, user };
  }
  const email = await usableEmail(change.tx, identity);
  const existing = await change.tx.findOne(users, { organisationId, email }, { ...withDeactivated, ...withAddresses });
  if (existing?.deactivatedAt) throw isDeactivated();
  const renamed = existing && (await linkedBefore(change.tx, existing, identity));
  if (existing && renamed) {
    renamed.subject = subject;
    existing.emailVerifiedAt ??= new Date(making.now);
    return { row: renamed, user: existing };
  }
  const user = existing ?? (await provision(change, connection, identity, email, making));
  user.emailVerifiedAt ??= new Date(making.now);
  const linked = change.tx.create(externalIdentities, {
    id: newId(),
    organisationId,
    userId: user.id,
    connectionId: connection.id,
    ...{ type, issuer, subject },
    grantedWorkspaces: [],
    createdAt: new Date(making.now),
    lastSignInAt: new Date(making.now),
  });
  await change.tx.flush();
  return { row: linked, user };
}

function isDeactivated(): SignInRefusal {
  return new SignInRefusal('user_deactivated', 'The directory has deactivated this user. Activate the user in the directory');
}

/** Returns the e-mail if it may identify a user. Throws SignInRefusal. */
async function usableEmail(em: EntityManager, identity: VerifiedIdentity): Promise<string> {
  const { type, email, emailVerified, organisationId } = identity;
  if (email === null) {
    const next =
      type === 'saml'
        ? 'Send the attribute email, or set saml.email_attribute of the connection to the name of its attribute'
        : 'Add the scope email to the connection';
    throw new SignInRefusal('email_missing', `The identity provider sent no e-mail. ${next}`);
  }
  if (!emailVerified) {
    throw new SignInRefusal('email_unverified', 'The identity provider has not verified the e-mail of this user');
  }
  if (!(await isInVerifiedDomain(em, organisationId, email))) {
    throw new SignInRefusal('domain_unverified', 'The domain of this e-mail is not a verified domain of the organisation');
  }
  return email;
}

/** Creates the user: by their pending invite, else just in time if the organisation allows it. */
async function provision(
  change: Change,
  connection: SsoConnection,
  identity: IdentityWithGroups,
  email: string,
  making: Making,
): Promise<User> {
  const { organisationId, firstName, lastName } = identity;
  const { tx } = change;
  const at = new Date(making.now);
  const invite = await tx.findOne(userInvites, { organisationId, email, status: 'pending', expiresAt: { $gt: at } });
  if (invite && (await isStillGranted(tx, invite, making.now))) {
    await markAccepted(tx, invite, making.now);
    const user = await insertUser(change, { organisationId, email, role: invite.role, firstName, lastName }, making.now);
    await joinWorkspaces(change, user, invite, making);
    return user;
  }
  const { authSettings } = await tx.findOneOrFail(organisations, { id: organisationId });
  if (authSettings?.disable_auto_provision_user) {
    throw new SignInRefusal('provisioning_disabled', 'Only invited users can sign in. Ask an admin for an invite');
  }
  await checkEmailDomain(tx, organisationId, email).catch((error: unknown) => {
    if (!(error instanceof AdminError) || error.code !== 'AB01') throw error;
    throw new SignInRefusal(
      'domain_not_allowed',
      'allowed_email_domains of the organisation does not contain the domain of this e-mail',
    );
  });
  const matching = matchingRules(connection, identity.groups);
  if (connection.groupRules.length > 0 && matching.length === 0) {
    throw new SignInRefusal('no_group', 'This user is in none of the groups that may sign in');
  }
  const role = roleByGroups(connection, matching) ?? 'member';
  const user = await insertUser(change, { organisationId, email, role, firstName, lastName }, making.now);
  if (connection.groupRules.length > 0 || role !== 'member') return user;
  for (const { id } of await tx.find(workspaces, { organisationId, isDefault: true, status: 'active' })) {
    await addMember(change, user, id, 'member', making);
  }
  return user;
}

/** Hints of sessions are bound to the account they belong to. */
export function logoutHintContext({ id, organisationId }: Pick<ExternalIdentity, 'id' | 'organisationId'>): SealContext {
  return { organisationId, table: 'sessions', column: 'id_token', rowId: id };
}

import { readActiveUser } from '../access/active-user.ts';
import { newId } from '../db/new-id.ts';
import type { EntityManager } from '../db/open-database.ts';
import { readRow } from '../db/plain-rows.ts';
import type { AuditActor } from '../http/caller/actor.ts';
import type { KnownPerson, Unchecked } from '../http/public-route.ts';
import { type Organisation, organisations } from '../resources/organisations/entity.ts';
import type { User } from '../resources/users/entity.ts';
import { type Session, sessions } from './entity.ts';
import { hashOf, newSecret, secretIn } from './one-time-secret.ts';
import { pendingSignIns } from './second-factor/entity.ts';

/** Prefix of every session token. The gateway does not forward values with this prefix. */
export const sessionPrefix = 'svc_session_';
const tokenPattern = /^svc_session_[A-Za-z0-9_-]{43}$/;
const refreshPrefix = 'svc_refresh_';
/** A part that stays for the session, and a part that each use replaces. */
const refreshPattern = /^svc_refresh_([A-Za-z0-9_-]{43})([A-Za-z0-9_-]{43})$/;

/** Maximum life of a session in seconds if the organisation sets none (`session_settings.max_session_ttl`). */
const maxTtlSeconds = 7 * 86_400;
/** `lastSeenAt` is written if it is older than this. */
const seenEveryMs = 60_000;

export interface SessionRules {
  /** Seconds without a request after which a session ends. */
  readonly idleTtlSeconds: number;
}

/** Client of a sign-in, shown in the list of sessions. */
export interface SignInFrom {
  readonly clientIp: string;
  readonly userAgent: string | null;
}

/** The sign-in at an identity provider that begins a session. */
export interface ProviderSession extends Pick<Session, 'connectionId' | 'identityId' | 'providerSession' | 'logoutHint'> {
  /** End that the provider sets, in milliseconds; null: none. */
  readonly endsAt: number | null;
}

export interface StartedSession {
  readonly row: Session;
  readonly token: string;
  readonly refreshToken: string;
}

/** Signs the user in. Only the return value contains the tokens. */
export async function startSession(
  tx: EntityManager,
  user: Pick<User, 'id' | 'organisationId'>,
  from: SignInFrom,
  now: number,
  { endsAt = null, ...provider }: Partial<ProviderSession> = {},
): Promise<StartedSession> {
  const ownEnd = now + ttlOf(await readRow(tx, organisations, { id: user.organisationId })) * 1_000;
  const token = newSecret(sessionPrefix);
  const [family, part] = [newSecret(''), newSecret('')];
  const row = tx.create(sessions, {
    id: newId(),
    organisationId: user.organisationId,
    userId: user.id,
    tokenHash: hashOf(token),
    createdAt: new Date(now),
    lastSeenAt: new Date(now),
    expiresAt: new Date(Math.min(ownEnd, endsAt ?? ownEnd)),
    clientIp: from.clientIp,
    userAgent: from.userAgent?.replace(/\p{Cc}/gu, '').slice(0, 255) ?? null,
    refreshFamily: hashOf(family),
    refreshHash: hashOf(part),
    ...provider,
  });
  return { row, token, refreshToken: refreshPrefix + family + part };
}

/** Returns the user of the session whose refresh token an unchecked body holds, also of one that has ended; null if there is none. */
export async function userOfRefresh(em: EntityManager, { body }: Pick<Unchecked, 'body'>): Promise<KnownPerson | null> {
  const [, family] = refreshPattern.exec(secretIn(body, 'refresh_token') ?? '') ?? [];
  return family === undefined ? null : em.findOne(sessions, { refreshFamily: hashOf(family) });
}

/** Finds the session of a refresh token, used or not. Null if there is none or it has ended. */
export async function findRefreshable(
  em: EntityManager,
  refreshToken: string,
  rules: SessionRules,
  now: number,
): Promise<Session | null> {
  const [, family] = refreshPattern.exec(refreshToken) ?? [];
  const row = family === undefined ? null : await em.findOne(sessions, { refreshFamily: hashOf(family) });
  if (!row || isOver(row, rules, now)) return null;
  const organisation = await readRow(em, organisations, { id: row.organisationId });
  if (!organisation || row.createdAt.getTime() + ttlOf(organisation) * 1_000 <= now) return null;
  const user = await readActiveUser(em, row.organisationId, row.userId);
  return user && !needsProvider(row, user, organisation) ? row : null;
}

/**
 * Replaces both tokens of a session; its end stays. Null if the refresh token was used before: then someone else may have it, and the
 * caller ends the session.
 */
export async function refreshSession(
  tx: EntityManager,
  row: Session,
  refreshToken: string,
  now: number,
): Promise<Omit<StartedSession, 'row'> | null> {
  const [, family = '', part = ''] = refreshPattern.exec(refreshToken) ?? [];
  const token = newSecret(sessionPrefix);
  const next = newSecret('');
  const { id, organisationId } = row;
  const current = { id, organisationId, refreshFamily: hashOf(family), refreshHash: hashOf(part) };
  const changes = { tokenHash: hashOf(token), refreshHash: hashOf(next), lastSeenAt: new Date(now) };
  const replaced = await tx.nativeUpdate(sessions, current, changes);
  return replaced === 0 ? null : { token, refreshToken: refreshPrefix + family + next };
}

/**
 * Returns the session of this token and its user. Null if there is none or it has ended: older than the organisation now allows,
 * idle too long, revoked, begun with a password that its user may no longer use, or its user removed. Records the use.
 */
export async function findSession(
  em: EntityManager,
  token: string,
  rules: SessionRules,
  now: number,
): Promise<{ row: Session; user: User; organisation: Organisation } | null> {
  if (!tokenPattern.test(token)) return null;
  const row = await readRow(em, sessions, { tokenHash: hashOf(token) });
  if (!row || isOver(row, rules, now)) return null;
  const organisation = await readRow(em, organisations, { id: row.organisationId });
  if (!organisation || row.createdAt.getTime() + ttlOf(organisation) * 1_000 <= now) return null;
  const user = await readActiveUser(em, row.organisationId, row.userId);
  if (!user || needsProvider(row, user, organisation)) return null;
  if (now - row.lastSeenAt.getTime() >= seenEveryMs) {
    await em.nativeUpdate(sessions, { id: row.id, organisationId: row.organisationId }, { lastSeenAt: new Date(now) });
  }
  return { row, user, organisation };
}

/** Returns the user of a session for the audit log, without recording a use. Null if there is none. */
export async function ownerOfSession(em: EntityManager, token: string): Promise<AuditActor | null> {
  const row = tokenPattern.test(token) ? await readRow(em, sessions, { tokenHash: hashOf(token) }) : null;
  return row && { organisationId: row.organisationId, keyId: row.id, userId: row.userId };
}

/** Returns true if a session has ended according to its row. */
export function isOver(row: Session, rules: SessionRules, now: number): boolean {
  return row.expiresAt.getTime() <= now || row.lastSeenAt.getTime() + rules.idleTtlSeconds * 1_000 <= now;
}

/**
 * Ends all sessions of a user except one, deletes ended ones, and ends sign-ins that wait for a second factor: they began with a
 * password that may have been replaced since.
 */
export async function endSessions(
  tx: EntityManager,
  user: Pick<User, 'id' | 'organisationId'>,
  except: string | null,
): Promise<void> {
  await tx.nativeDelete(sessions, {
    organisationId: user.organisationId,
    userId: user.id,
    ...(except === null ? {} : { id: { $ne: except } }),
  });
  await tx.nativeDelete(pendingSignIns, { organisationId: user.organisationId, userId: user.id });
}

/** Ends the sessions of an organisation that began with a password, except those of owners. For `require_sso`. */
export async function endPasswordSessions(tx: EntityManager, organisationId: string): Promise<void> {
  await tx.execute(
    `delete from sessions s using users u
     where s.organisation_id = ? and s.connection_id is null
       and u.id = s.user_id and u.organisation_id = s.organisation_id and u.role <> 'owner'`,
    [organisationId],
    'run',
  );
}

/**
 * True for a session that began with a password and whose user must use single sign-on: the sign-in was in progress when the setting
 * changed, or the user was an owner.
 */
function needsProvider(
  { connectionId }: Pick<Session, 'connectionId'>,
  { role }: Pick<User, 'role'>,
  { authSettings }: Pick<Organisation, 'authSettings'>,
): boolean {
  return !connectionId && role !== 'owner' && authSettings?.require_sso === true;
}

function ttlOf(organisation: Organisation | null): number {
  return organisation?.authSettings?.session_settings?.max_session_ttl ?? maxTtlSeconds;
}

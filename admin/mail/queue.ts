import { type AuditDraft, addAuditEntry } from '../audit/audit-entry.ts';
import type { EntityManager } from '../db/open-database.ts';
import type { MailKind, MailSubject } from './entity.ts';

/** The lease under which a process holds the mails that it sends. */
export interface Lease {
  readonly id: string;
  readonly seconds: number;
}

/** A mail that this process sends. */
export interface TakenMail {
  readonly id: string;
  readonly organisationId: string;
  readonly kind: MailKind;
  readonly isUrgent: boolean;
  readonly content: string;
  readonly about: MailSubject;
  readonly attempts: number;
  readonly unconfirmed: number;
  readonly lastError: string | null;
  readonly createdAt: Date;
  readonly isExpired: boolean;
}

/** Mails that are not taken. */
export interface Choice {
  /** False: only urgent mails are taken. */
  readonly withNotices: boolean;
  /** Ids of mails. */
  readonly except: readonly string[];
  /** Ids of organisations. */
  readonly exceptOf: readonly string[];
  /** Ids of organisations whose urgent mails are taken. */
  readonly exceptNoticesOf: readonly string[];
}

/** Takes the next mail that is due; null if there is none. Urgent mails come first, then the one that has waited longest. */
export async function takeMail(
  em: EntityManager,
  lease: Lease,
  { withNotices, except, exceptOf, exceptNoticesOf }: Choice,
): Promise<TakenMail | null> {
  // Materialized: PostgreSQL may run a subquery in the condition once per row, and would then take more than one.
  const [row] = await em.execute<(Omit<TakenMail, 'createdAt'> & { createdAt: string | Date })[]>(
    `with due as materialized (
       select id from mails
       where run_at <= now() and (leased_until is null or leased_until < now()) and (is_urgent or ?)
         and id not in (select value::uuid from jsonb_array_elements_text(?::jsonb))
         and organisation_id not in (select value::uuid from jsonb_array_elements_text(?::jsonb))
         and (is_urgent or organisation_id not in (select value::uuid from jsonb_array_elements_text(?::jsonb)))
       order by is_urgent desc, run_at limit 1 for update skip locked)
     update mails m set lease_id = ?, leased_until = now() + make_interval(secs => ?), attempts = attempts + 1
     from due where m.id = due.id
     returning m.id, m.organisation_id as "organisationId", m.kind, m.is_urgent as "isUrgent", m.content, m.about, m.attempts,
       m.unconfirmed, m.last_error as "lastError", m.created_at as "createdAt", m.expires_at <= now() as "isExpired"`,
    [withNotices, ...[except, exceptOf, exceptNoticesOf].map((ids) => JSON.stringify(ids)), lease.id, lease.seconds],
  );
  return row === undefined ? null : { ...row, createdAt: new Date(row.createdAt) };
}

export interface Postponement {
  /** Null: the last one stays. */
  readonly reason: string | null;
  /** `none`: any process may send the mail now. Otherwise half the age of the mail, at least 30 s and at most two minutes or an hour. */
  readonly delay: 'none' | 'short' | 'long';
  readonly isUnconfirmed: boolean;
}

const delaySeconds = { none: { min: 0, max: 0 }, short: { min: 30, max: 120 }, long: { min: 30, max: 3_600 } } as const;

/** Releases a mail for a later attempt, at the latest when it expires. */
export async function postpone(em: EntityManager, lease: Lease, mail: TakenMail, next: Postponement): Promise<void> {
  const { min, max } = delaySeconds[next.delay];
  await em.execute(
    `update mails set lease_id = null, leased_until = null, unconfirmed = unconfirmed + ?, last_error = coalesce(?, last_error),
       run_at = least(expires_at, now() + make_interval(secs => least(greatest(extract(epoch from now() - created_at)::float8 / 2, ?), ?)))
     where id = ? and lease_id = ?`,
    [next.isUnconfirmed ? 1 : 0, next.reason, min, max, mail.id, lease.id],
  );
}

/** Deletes a mail. Returns false if this process no longer holds it, or if it was withdrawn. */
export async function remove(em: EntityManager, lease: Lease, { id }: TakenMail): Promise<boolean> {
  const rows = await em.execute<unknown[]>('delete from mails where id = ? and lease_id = ? returning id', [id, lease.id]);
  return rows.length > 0;
}

/** Deletes a mail that cannot be sent, with an entry in the audit log of its organisation. Returns false as `remove` does. */
export async function giveUp(
  em: EntityManager,
  lease: Lease,
  auditKey: Uint8Array,
  mail: TakenMail,
  { to, reason }: { readonly to: string | null; readonly reason: string },
): Promise<boolean> {
  const { organisationId, about, kind } = mail;
  const draft: AuditDraft = {
    ...{ organisationId, workspaceId: about.workspaceId, method: 'POST', uri: about.uri, requestId: '' },
    ...{ requestBody: { mail: kind, to, error: reason }, queryParams: {}, userId: null, userType: 'system' },
    ...{ resourceType: about.resource, action: 'send_mail', clientIp: '' },
  };
  return em.transactional(async (tx) => {
    if (!(await remove(tx, lease, mail))) return false;
    await addAuditEntry(tx, auditKey, draft, { status: 502, errorCode: null, about: { id: about.id } });
    return true;
  });
}

/**
 * Extends the leases of the mails that this process sends. It may have leased others without sending them: those that it could not release, and
 * those that it took in a statement whose result was lost.
 */
export async function renew(em: EntityManager, lease: Lease, ids: readonly string[]): Promise<void> {
  await em.execute(
    `update mails set leased_until = now() + make_interval(secs => ?)
     where lease_id = ? and id in (select value::uuid from jsonb_array_elements_text(?::jsonb))`,
    [lease.seconds, lease.id, JSON.stringify(ids)],
    'run',
  );
}

/** Deletes mails that have expired, for services whose mail server was removed. Otherwise the sender gives them up. */
export async function deleteExpiredMails(em: EntityManager, { on }: { readonly on: boolean }): Promise<void> {
  if (!on) await em.execute('delete from mails where expires_at <= now()', [], 'run');
}

import { dayMs } from '../../core/contract/values/time/durations.ts';
import { newId } from '../db/new-id.ts';
import type { EntityManager } from '../db/open-database.ts';
import type { SealContext, Vault } from '../secrets/vault.ts';
import { type MailKind, type MailSubject, mailKinds, mails } from './entity.ts';

/** The sealed part of a mail. */
export interface MailContent {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface NewMail extends MailContent {
  readonly organisationId: string;
  readonly kind: MailKind;
  readonly about: MailSubject;
  /** Milliseconds since 1970 at which the mail becomes useless, such as the end of its link. Mails are given up after a day at the latest. */
  readonly endsAt?: number;
}

/** Time in milliseconds for which a mail is tried. */
const triedMs = dayMs;
/** Rows of one statement. */
const batchMax = 500;

/** Stores mails in the transaction of the change that causes them. Call `wake` of the mailer after the commit. */
export async function addMails(tx: EntityManager, vault: Vault, now: number, added: readonly NewMail[]): Promise<void> {
  for (let from = 0; from < added.length; from += batchMax) {
    const rows = [];
    for (const mail of added.slice(from, from + batchMax)) rows.push(await rowOf(tx, vault, now, mail));
    await tx.execute(
      `insert into mails (id, organisation_id, kind, key, is_urgent, content, about, expires_at, run_at, created_at)
       select (m->>'id')::uuid, (m->>'organisationId')::uuid, m->>'kind', m->>'key', (m->>'isUrgent')::boolean, m->>'content', m->'about',
         (m->>'expiresAt')::timestamptz, now(), now()
       from jsonb_array_elements(?::jsonb) m`,
      [JSON.stringify(rows)],
    );
  }
}

async function rowOf(tx: EntityManager, vault: Vault, now: number, mail: NewMail) {
  const { organisationId, kind, about, to, subject, text, endsAt = Number.POSITIVE_INFINITY } = mail;
  const id = newId();
  const isUrgent = mailKinds[kind];
  if (isUrgent) await withdrawMails(tx, organisationId, kind, about.id);
  return {
    ...{ id, organisationId, kind, about, isUrgent, key: isUrgent ? keyOf(kind, about.id) : null },
    content: await vault.seal(tx, sealOf({ id, organisationId }), JSON.stringify({ to, subject, text } satisfies MailContent)),
    expiresAt: new Date(Math.min(endsAt, now + triedMs)).toISOString(),
  };
}

/** Deletes the waiting mails of a kind about an item, whose link no longer works. One that is being sent arrives nevertheless. */
export async function withdrawMails(tx: EntityManager, organisationId: string, kind: MailKind, id: string): Promise<void> {
  await tx.nativeDelete(mails, { organisationId, key: keyOf(kind, id) });
}

function keyOf(kind: MailKind, id: string): string {
  return `${kind}/${id}`;
}

export function sealOf({ id, organisationId }: { readonly id: string; readonly organisationId: string }): SealContext {
  return { organisationId, table: 'mails', column: 'content', rowId: id };
}

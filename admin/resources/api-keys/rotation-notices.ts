import type { EntityManager } from '../../db/open-database.ts';
import type { Mailer } from '../../mail/mailer.ts';
import { noticeMs } from './rotation-policy.ts';

/** Maximum keys per transaction. Each may have many recipients. */
const keysMax = 50;

/**
 * Stores one mail for each key that must soon be rotated, with the time at which its secret expires otherwise. Recipients are its owner, the
 * managers of its workspace or organisation, and its own alert addresses. Several processes may run this at once. Without a mail server, no
 * notice is marked as sent.
 */
export async function announceRotations(
  em: EntityManager,
  mailer: Pick<Mailer, 'on' | 'add' | 'wake'>,
  now: Date,
  isClosing: () => boolean,
): Promise<void> {
  if (!mailer.on) return;
  for (let count = keysMax; count === keysMax && !isClosing(); ) {
    count = await em.fork().transactional((tx) => announceSome(tx, mailer, now));
    mailer.wake();
  }
}

/** Returns the number of keys. */
async function announceSome(em: EntityManager, mailer: Pick<Mailer, 'add'>, now: Date): Promise<number> {
  const due = await em.execute<DueKey[]>(
    // Materialized: PostgreSQL may run a subquery in the condition once per row, and would then update more than the limit.
    `with due as materialized (
       select id from api_keys where next_rotation_at <= ?::timestamptz and secret_expires_at > ?::timestamptz
         and rotation_notice_at is distinct from next_rotation_at
         and (expires_at is null or expires_at > ?::timestamptz)
       order by next_rotation_at limit ${keysMax} for update skip locked
     ) update api_keys k set rotation_notice_at = k.next_rotation_at from due where k.id = due.id
     returning k.id, k.organisation_id, k.workspace_id, k.user_id, k.name, k.alert_emails, k.next_rotation_at, k.secret_expires_at`,
    [new Date(now.getTime() + noticeMs).toISOString(), now.toISOString(), now.toISOString()],
  );
  for (const key of due) {
    const { id, organisation_id: organisationId, workspace_id: workspaceId } = key;
    const about = { resource: 'api_keys', uri: `/v1/api-keys/${id}`, id, workspaceId };
    const endsAt = new Date(key.secret_expires_at).getTime();
    const mail = { organisationId, kind: 'rotation-notice', about, endsAt, ...noticeOf(key) } as const;
    const recipients = await recipientsOf(em, key);
    await mailer.add(
      em,
      recipients.map((to) => ({ ...mail, to })),
    );
  }
  return due.length;
}

/** Deletes the digests of secrets whose transition has ended; they are no longer accepted. */
export async function forgetOldSecrets(em: EntityManager, now: Date): Promise<void> {
  await em.execute(
    'update api_keys set previous_digest = null where previous_digest is not null and previous_expires_at < ?::timestamptz',
    [now.toISOString()],
    'run',
  );
}

interface DueKey {
  readonly id: string;
  readonly organisation_id: string;
  readonly workspace_id: string | null;
  readonly user_id: string | null;
  readonly name: string;
  readonly alert_emails: string[];
  readonly next_rotation_at: string | Date;
  readonly secret_expires_at: string | Date;
}

async function recipientsOf(em: EntityManager, key: DueKey): Promise<string[]> {
  const people = await em.execute<{ email: string }[]>(
    `select u.email from users u
       left join workspace_members m on m.user_id = u.id and m.workspace_id = ?::uuid and m.organisation_id = u.organisation_id
     where u.organisation_id = ? and u.deactivated_at is null
       and (u.role in ('owner', 'admin') or m.role in ('admin', 'manager') or u.id = ?::uuid)`,
    [key.workspace_id, key.organisation_id, key.user_id],
  );
  return [...new Set([...people.map((person) => person.email), ...key.alert_emails])];
}

function noticeOf(key: DueKey): { subject: string; text: string } {
  const name = key.name.replace(/\p{Cc}/gu, ' ');
  const due = new Date(key.next_rotation_at).toISOString();
  const end = new Date(key.secret_expires_at).toISOString();
  return {
    subject: `The API key "${name}" must be rotated`,
    text: [
      `The secret of the API key "${name}" must be rotated by ${due}.`,
      `Rotate it (POST /v1/api-keys/${key.id}/rotate) and replace the old key where it is used.`,
      `Otherwise the key stops working at ${end}.`,
    ].join('\n\n'),
  };
}

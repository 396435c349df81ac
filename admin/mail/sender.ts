import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../core/contract/values/log/log.ts';
import { newId } from '../db/new-id.ts';
import type { Database } from '../db/open-database.ts';
import { failureFields } from '../failure-fields.ts';
import type { Vault } from '../secrets/vault.ts';
import { type MailContent, sealOf } from './add-mails.ts';
import { giveUp, postpone, remove, renew, type TakenMail, takeMail } from './queue.ts';
import { connectionsMax, type SendResult, type Smtp } from './smtp.ts';

export interface SenderOptions {
  readonly smtp: Smtp;
  readonly database: Database;
  readonly vault: Vault;
  readonly auditKey: Uint8Array;
  readonly log: Log;
  /** Milliseconds for which a mail stays with a process that does not renew its lease. */
  readonly leaseMs: number;
  count(outcome: 'sent' | 'failed'): void;
}

export interface Sender {
  wake(): void;
  close(): Promise<void>;
}

/** A mail that is being sent. */
interface Sending {
  readonly organisationId: string;
  readonly isUrgent: boolean;
  /** Ends the attempt when the process must stop. */
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

const pollMs = 5_000;
const closeMs = 5_000;
/** One connection is left for urgent mails. */
const noticesMax = connectionsMax - 1;
/** One connection is left for other organisations, and one for their notices. */
const shareMax = { all: connectionsMax - 1, notices: noticesMax - 1 };
/** Pauses of this process, in milliseconds, after attempts at a mail server that is away. */
const awayMs = { first: 1_000, max: 30_000 };
/** Attempts without a confirmation. Each may have delivered the mail. */
const unconfirmedMax = 3;
/** Texts for organisations. Reasons about the mail server itself name hosts and accounts of the operator, and are in the log only. */
const senderText = 'The mail server does not accept the sender of this service';
const unconfirmedText = `The mail server did not confirm the mail in ${unconfirmedMax} attempts. It may have arrived, because its whole text was sent`;

/** Sends stored mails until it is closed, urgent ones first. Several control planes share the table: each mail is leased by one of them at a time. */
export function startSender({ smtp, database, vault, auditKey, log, leaseMs, count }: SenderOptions): Sender {
  const lease = { id: newId(), seconds: leaseMs / 1_000 };
  const stop = new AbortController();
  const sending = new Map<string, Sending>();
  /** Ends the pause of the loop. `AbortSignal.any` with `stop` would leak memory in each pause: nodejs/node#64476. */
  let nudge = new AbortController();
  /** Null: the mail server replies. */
  let away: { pauseMs: number; untilMs: number } | null = null;

  async function loop(): Promise<void> {
    while (!stop.signal.aborted) {
      nudge = new AbortController();
      const pauseMs = away === null ? 0 : away.untilMs - performance.now();
      if (pauseMs > 0) await pause(pauseMs, stop.signal);
      else if (!(await sendNext())) await pause(pollMs, nudge.signal);
    }
  }

  /** Begins to send the next mail. Returns false if none is due or all connections are busy. */
  async function sendNext(): Promise<boolean> {
    if (sending.size >= connectionsMax) return false;
    const notices = [...sending.values()].filter(({ isUrgent }) => !isUrgent);
    try {
      const mail = await takeMail(database.em(), lease, {
        withNotices: notices.length < noticesMax,
        except: [...sending.keys()],
        exceptOf: atShare([...sending.values()], shareMax.all),
        exceptNoticesOf: atShare(notices, shareMax.notices),
      });
      if (mail === null) return false;
      const abort = new AbortController();
      const done = run(mail, abort.signal).finally(() => {
        sending.delete(mail.id);
        nudge.abort();
      });
      const { organisationId, isUrgent } = mail;
      sending.set(mail.id, { organisationId, isUrgent, abort, done });
      return true;
    } catch (cause) {
      log.warn(failureFields(cause), 'could not read waiting mails');
      return false;
    }
  }

  /** Makes one attempt. A failure of the database leaves the mail to the end of its lease. */
  async function run(mail: TakenMail, signal: AbortSignal): Promise<void> {
    try {
      if (mail.isExpired) {
        const content = await open(mail).catch(() => null);
        return await fail(mail, content, mail.lastError ?? 'The mail server did not accept mails in time');
      }
      const content = await open(mail);
      const result = await smtp.send({ ...content, id: mail.id, createdAt: mail.createdAt }, signal);
      // The process stops. A failure of the attempt is not one of the mail server.
      if (signal.aborted && result.outcome === 'away') return await release(mail, result.isUnconfirmed);
      await settle(mail, content, result);
    } catch (cause) {
      log.warn({ mail: mail.id, kind: mail.kind, ...failureFields(cause) }, 'could not process a mail; it will be tried again');
      await postpone(database.em(), lease, mail, { reason: null, delay: 'long', isUnconfirmed: false }).catch(() => {});
    }
  }

  async function open(mail: TakenMail): Promise<MailContent> {
    return JSON.parse(await vault.open(database.em(), sealOf(mail), mail.content)) as MailContent;
  }

  async function settle(mail: TakenMail, content: MailContent, result: SendResult): Promise<void> {
    const { id, kind } = mail;
    if (result.outcome === 'away') return pass(mail, content, result);
    if (away !== null) log.info({}, 'the mail server replies again');
    away = null;
    if (result.outcome === 'sent') {
      count('sent');
      log.debug({ mail: id, kind }, 'mail sent');
      return removeSent(mail);
    }
    const { reason, isFinal, isAboutSender } = result;
    if (isFinal) return fail(mail, content, reason);
    const stored = isAboutSender ? senderText : reason;
    if (stored !== mail.lastError)
      log.warn({ mail: id, kind, reason }, 'the mail server refused a mail for now; it will be sent again');
    await postpone(database.em(), lease, mail, { reason: stored, delay: 'long', isUnconfirmed: false });
  }

  /** Postpones a mail that did not fail by itself, and pauses before the next attempt. */
  async function pass(mail: TakenMail, content: MailContent, result: SendResult & { outcome: 'away' }): Promise<void> {
    const { reason, isUnconfirmed } = result;
    if (away === null) log.warn({ reason }, 'the mail server does not accept mails; they wait');
    const pauseMs = Math.min((away?.pauseMs ?? awayMs.first / 2) * 2, awayMs.max);
    away = { pauseMs, untilMs: performance.now() + pauseMs };
    if (isUnconfirmed && mail.unconfirmed + 1 >= unconfirmedMax) {
      return fail(mail, content, unconfirmedText);
    }
    // The reason is not stored, because the last one is in the audit log when a mail expires.
    await postpone(database.em(), lease, mail, { reason: null, delay: isUnconfirmed ? 'long' : 'short', isUnconfirmed });
  }

  /** Leaves a mail to any process. */
  async function release(mail: TakenMail, isUnconfirmed: boolean): Promise<void> {
    await postpone(database.em(), lease, mail, { reason: null, delay: 'none', isUnconfirmed });
  }

  async function fail(mail: TakenMail, content: MailContent | null, reason: string): Promise<void> {
    const { id, kind, organisationId } = mail;
    if (!(await giveUp(database.em(), lease, auditKey, mail, { to: content?.to ?? null, reason }))) return;
    count('failed');
    log.error({ mail: id, kind, organisationId, reason }, 'could not send a mail; it is given up');
  }

  /** Deletes a mail that was sent. If the database is away, it is asked again: the mail would otherwise be sent a second time. */
  async function removeSent(mail: TakenMail): Promise<void> {
    for (;;) {
      try {
        await remove(database.em(), lease, mail);
        return;
      } catch (cause) {
        if (stop.signal.aborted) throw cause;
        await pause(1_000, stop.signal);
      }
    }
  }

  const renewing = setInterval(() => {
    if (sending.size > 0) renew(database.em(), lease, [...sending.keys()]).catch(() => {});
  }, leaseMs / 4);
  const looping = loop();
  return {
    wake: () => nudge.abort(),
    async close() {
      stop.abort();
      nudge.abort();
      await looping;
      const all = Promise.all([...sending.values()].map(({ done }) => done));
      await Promise.race([all, sleep(closeMs, undefined, { ref: false })]);
      for (const { abort } of sending.values()) abort.abort();
      await all;
      clearInterval(renewing);
      smtp.close();
    },
  };
}

/** Returns the organisations that have as many of these mails as one may have. */
function atShare(mails: readonly Sending[], max: number): string[] {
  const all = mails.map(({ organisationId }) => organisationId);
  return [...new Set(all)].filter((id) => all.filter((other) => other === id).length >= max);
}

/** Waits, at most until the signal is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}

import { Counter, type Registry } from 'prom-client';
import type { Settings } from '../../config/settings.ts';
import type { Clock } from '../../core/contract/plugin/plugin.ts';
import type { Log } from '../../core/contract/values/log/log.ts';
import type { Database, EntityManager } from '../db/open-database.ts';
import { failureFields } from '../failure-fields.ts';
import { DataKeyError } from '../secrets/data-key.ts';
import type { Vault } from '../secrets/vault.ts';
import { addMails, type NewMail } from './add-mails.ts';
import { mailKinds } from './entity.ts';
import { startSender } from './sender.ts';
import { createSmtp } from './smtp.ts';

/** Stores mails and sends them in the background: no request waits for a mail server, and none fails because of one. */
export interface Mailer {
  /** True if a mail server is configured. */
  readonly on: boolean;
  /**
   * Stores mails of one organisation in this transaction, if a mail server is configured. Call `wake` after the commit. If the data key of the
   * organisation cannot be opened, notices are left out: those of other organisations may be in the same transaction.
   */
  add(tx: EntityManager, mails: readonly NewMail[]): Promise<void>;
  /** Sends waiting mails now instead of at the next interval. */
  wake(): void;
  /** Waits a few seconds for mails that are being sent. The others wait for the next start. */
  close(): Promise<void>;
}

export interface MailerOptions {
  readonly database: Database;
  readonly vault: Vault;
  readonly auditKey: Uint8Array;
  readonly clock: Clock;
  readonly registry: Registry;
  readonly log: Log;
}

/** Returns the mailer of `SMTP_URL`. Without a mail server no mail is stored. Replies contain the links as well. */
export async function createMailer(
  settings: Pick<Settings, 'smtpUrl' | 'smtpFrom' | 'jobLeaseMs'>,
  { vault, clock, registry, log, ...rest }: MailerOptions,
): Promise<Mailer> {
  if (settings.smtpUrl === null) return { on: false, add: async () => {}, wake: () => {}, close: async () => {} };
  const counter = new Counter({
    name: 'svc_mails_total',
    help: 'Mails by outcome; failed: given up after a refusal or when they were no longer useful',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of ['sent', 'failed'] as const) counter.inc({ outcome }, 0);
  const sender = startSender({
    ...{ ...rest, vault, log, leaseMs: settings.jobLeaseMs, smtp: await createSmtp(settings.smtpUrl, settings) },
    count: (outcome) => counter.inc({ outcome }),
  });
  return {
    on: true,
    async add(tx, mails) {
      try {
        await addMails(tx, vault, clock.now(), mails);
      } catch (cause) {
        if (!(cause instanceof DataKeyError) || mails.some(({ kind }) => mailKinds[kind])) throw cause;
        log.error({ kind: mails[0]?.kind ?? null, ...failureFields(cause) }, 'could not store the notices of an organisation');
      }
    },
    wake: sender.wake,
    close: sender.close,
  };
}

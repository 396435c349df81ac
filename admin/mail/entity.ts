import { defineEntity, p } from '@mikro-orm/core';

/**
 * Kinds of mails. True: a person waits for the mail, or it has a link that ends soon. Such mails are sent before the others, and a later mail
 * of this kind about the same item replaces the earlier one, whose link no longer works.
 */
export const mailKinds = {
  invite: true,
  'set-password': true,
  'verify-email': true,
  'rotation-notice': false,
  'budget-event': false,
} as const;

export type MailKind = keyof typeof mailKinds;

/** The item that a mail is about, as the audit entry of a failed mail names it. */
export interface MailSubject {
  readonly resource: string;
  readonly uri: string;
  readonly id: string;
  readonly workspaceId: string | null;
}

/** A mail that waits. Its row is deleted when the mail server has accepted it, or when it is given up. */
export const mails = defineEntity({
  name: 'Mail',
  tableName: 'mails',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    kind: p.text().$type<MailKind>(),
    /** A later mail with this key replaces this one. Null: none does. */
    key: p.text().nullable(),
    isUrgent: p.boolean(),
    /** Recipient, subject and text, sealed. */
    content: p.text(),
    about: p.json().$type<MailSubject>(),
    /** Attempts, including the current one. */
    attempts: p.integer(),
    /** Attempts that ended without a reply after the whole text had been sent: the mail may have arrived. */
    unconfirmed: p.integer(),
    /** Last refusal of this mail. Null: the mail server has not refused it. */
    lastError: p.text().nullable(),
    runAt: p.datetime(),
    /** From this time the mail is not sent any more. */
    expiresAt: p.datetime(),
    leaseId: p.uuid().nullable(),
    leasedUntil: p.datetime().nullable(),
    createdAt: p.datetime(),
  },
});

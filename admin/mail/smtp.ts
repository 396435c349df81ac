import { PassThrough } from 'node:stream';
import type { Settings } from '../../config/settings.ts';
import { maskCredentials } from '../../core/contract/values/text/mask-credentials.ts';
import type { MailContent } from './add-mails.ts';

/** Connections of this process. Mail servers refuse more connections of one client. */
export const connectionsMax = 3;

/** Milliseconds until a connection is open. */
const connectMs = 10_000;
/** Some servers delay their greeting, because programs that send spam do not wait for it. */
const greetingMs = 30_000;
/** Many servers check the text of a mail before they accept it. A mail whose acceptance is not awaited arrives twice. */
const replyMs = 60_000;
/** Milliseconds for one mail, also if the server sends its replies in small parts. */
const mailMs = 180_000;

/**
 * Result of an attempt. `refused`: the server replied to this mail. `away`: it could not be reached, did not reply, or accepts no mail of
 * this service at all, so the next mail would fail as well. Reasons contain no credential.
 */
export type SendResult =
  | { readonly outcome: 'sent' }
  | {
      readonly outcome: 'refused';
      readonly reason: string;
      readonly isFinal: boolean;
      /** True if the server replied to the sender, which is an account of the operator. */
      readonly isAboutSender: boolean;
    }
  | {
      readonly outcome: 'away';
      readonly reason: string;
      /** True if the whole text was sent: the server may have accepted the mail. */
      readonly isUnconfirmed: boolean;
    };

export interface Smtp {
  /** Sends one mail. The id is in its `Message-ID`, by which mail servers recognise a mail that arrives twice. Never rejects. */
  send(mail: MailContent & { readonly id: string; readonly createdAt: Date }, signal: AbortSignal): Promise<SendResult>;
  /** Closes all connections. */
  close(): void;
}

/** Returns a client of the mail server. It opens connections when mails are sent, and closes them when they are idle. */
export async function createSmtp(smtpUrl: string, { smtpFrom }: Pick<Settings, 'smtpFrom'>): Promise<Smtp> {
  // The library takes 9 MB: only services with a mail server load it.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport(optionsOf(new URL(smtpUrl)));
  const domain = smtpFrom.slice(smtpFrom.lastIndexOf('@') + 1);
  /** The `Message-ID` of mails whose text was read to its end. */
  const written = new Set<string>();
  transport.use('stream', ({ data, message }, done) => {
    const { messageId } = data;
    message?.transform(() => new PassThrough().on('end', () => messageId && written.add(messageId)));
    done();
  });
  return {
    async send({ id, to, subject, text, createdAt }, signal) {
      const messageId = `<${id}@${domain}>`;
      const until = AbortSignal.any([signal, AbortSignal.timeout(mailMs)]);
      try {
        await transport.sendMail({ from: smtpFrom, to, subject, text, messageId, date: createdAt, signal: until });
        return { outcome: 'sent' };
      } catch (error) {
        return resultOf(error, written.has(messageId));
      } finally {
        written.delete(messageId);
      }
    },
    close: () => transport.close({ force: true }),
  };
}

const reasonMax = 500;

function resultOf(error: unknown, isWritten: boolean): SendResult {
  const { code, command, responseCode, message } = error as {
    readonly code?: string;
    readonly command?: string;
    readonly responseCode?: number;
    readonly message: string;
  };
  const reason = maskCredentials(message).slice(0, reasonMax);
  // 421: the server closes the connection, whatever the mail is.
  const isAboutMail = (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode !== 421;
  if (!isAboutMail) return { outcome: 'away', reason, isUnconfirmed: isWritten && responseCode === undefined };
  // A sender that the server does not accept is the same for all mails, and can be corrected. Without a reply the address itself is invalid.
  const isAboutSender = command === 'MAIL FROM' && responseCode !== undefined;
  return {
    outcome: 'refused',
    reason,
    isFinal: responseCode === undefined || (responseCode >= 500 && !isAboutSender),
    isAboutSender,
  };
}

/** A password is sent over TLS only, except to a mail server on this machine. */
function optionsOf(url: URL) {
  const secure = url.protocol === 'smtps:';
  const user = decodeURIComponent(url.username);
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    pool: true as const,
    maxConnections: connectionsMax,
    // For connections that the server closed while they were idle. Everything else is repeated later.
    maxRequeues: 1,
    requireTLS: user !== '' && !local,
    ...(user === '' ? {} : { auth: { user, pass: decodeURIComponent(url.password) } }),
    connectionTimeout: connectMs,
    greetingTimeout: greetingMs,
    socketTimeout: replyMs,
    // Mails consist of the service's own texts and must not include files or URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

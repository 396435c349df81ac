import type { Settings } from '../../config/settings.ts';
import type { Log } from '../../core/contract/values/log/log.ts';
import { failureFields } from '../failure-fields.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends mail in the background: no request waits for a mail server, and none fails because of one. */
export interface Mailer {
  /** True if a mail server is configured. */
  readonly on: boolean;
  /** Sends a mail. Delivery failures are logged; the reply to the request contains the link as well. */
  send(mail: Mail): void;
  /** Waits for mails in transit, at most a few seconds. */
  close(): Promise<void>;
}

/** Maximum time in milliseconds of each step of the mail server. */
const stepMs = 10_000;
const closeMs = 5_000;
/** Mail servers refuse more connections of one client, and the mails on them would be lost. */
const connectionsMax = 3;
/** Mails have about 1 kB. A round of rotation notices may have a thousand. */
const underWayMax = 5_000;

/** Returns the mailer of `SMTP_URL`. Without a mail server no mail is sent. Replies contain the links as well. */
export async function createMailer(settings: Pick<Settings, 'smtpUrl' | 'smtpFrom'>, log: Log): Promise<Mailer> {
  if (settings.smtpUrl === null) return { on: false, send: () => {}, close: async () => {} };
  // The library takes 9 MB: only services with a mail server load it.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport(optionsOf(new URL(settings.smtpUrl)));
  const underWay = new Set<Promise<void>>();
  return {
    on: true,
    send(mail) {
      if (underWay.size >= underWayMax) return log.error({ subject: mail.subject }, 'mail dropped: the queue is full');
      const sent = transport
        .sendMail({ from: settings.smtpFrom, to: mail.to, subject: mail.subject, text: mail.text })
        .then(
          () => log.debug({ subject: mail.subject }, 'mail sent'),
          (error: unknown) => log.error({ subject: mail.subject, ...failureFields(error) }, 'could not send a mail'),
        )
        .finally(() => underWay.delete(sent));
      underWay.add(sent);
    },
    async close() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, closeMs);
      });
      await Promise.race([Promise.all(underWay), late]);
      clearTimeout(timer);
      transport.close();
    },
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
    requireTLS: user !== '' && !local,
    ...(user === '' ? {} : { auth: { user, pass: decodeURIComponent(url.password) } }),
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
    // Mails consist of the service's own texts and must not include files or URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

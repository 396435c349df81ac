import type { NewMail } from '../mail/add-mails.ts';

/** The mails of this service with links: short plain text. */
type LinkMail = Pick<NewMail, 'to' | 'subject' | 'text'>;

export function inviteMail(to: string, organisation: string, link: string): LinkMail {
  return {
    to,
    subject: `You are invited to ${oneLine(organisation)}`,
    text: `You are invited to join ${oneLine(organisation)}. To accept, open this link and choose a password:\n\n${link}\n\nThe link works once. If you did not expect it, ignore it.\n`,
  };
}

export function passwordMail(to: string, link: string): LinkMail {
  return {
    to,
    subject: 'Set your password',
    text: `To set your password, open this link within an hour:\n\n${link}\n\nThe link works once. If you did not ask for it, ignore it: nothing has changed.\n`,
  };
}

export function verificationMail(to: string, link: string): LinkMail {
  return {
    to,
    subject: 'Confirm your e-mail',
    text: `To confirm that this address is yours, open this link within a day:\n\n${link}\n\nIf you did not expect it, ignore it.\n`,
  };
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, 200);
}

import { html } from 'hono/html';
import type { AdminError } from '../../http/errors.ts';
import type { RawReply } from '../../http/reply/raw-reply.ts';
import { pagesRoot, routePage } from '../../pages/layout.ts';

/** Returns the page with the reason for a rejected sign-in. */
export const rejectedSignIn = ({ message }: AdminError): Promise<RawReply> => rejectedPage('The sign-in was rejected', message);

/** Returns the page with the reason for a rejected logout. */
export const rejectedLogout = ({ message }: AdminError): Promise<RawReply> => rejectedPage('The logout was rejected', message);

function rejectedPage(title: string, message: string): Promise<RawReply> {
  const body = html`<p role="alert">${message}.</p><p><a href="${pagesRoot}sign-in">Sign in again</a></p>`;
  return routePage({ title, body });
}

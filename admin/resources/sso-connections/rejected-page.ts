import { html } from 'hono/html';
import type { AdminError } from '../../http/errors.ts';
import type { RawReply } from '../../http/reply/raw-reply.ts';
import { pagesRoot, routePage } from '../../pages/layout.ts';

/** Returns the page with the reason for a rejected sign-in. */
export const rejectedSignIn = (error: AdminError): Promise<RawReply> => rejectedPage('The sign-in was rejected', error);

/** Returns the page with the reason for a rejected logout. */
export const rejectedLogout = (error: AdminError): Promise<RawReply> => rejectedPage('The logout was rejected', error);

/** Errors of a field begin with its name, which comes from the request: a link could write its own sentences on the page. */
const fieldError = /^[\w-]{1,32}: /;

function rejectedPage(title: string, { code, message }: AdminError): Promise<RawReply> {
  const shown = code === 'AB01' && !fieldError.test(message) ? 'The request is not valid' : message;
  const body = html`<p role="alert">${shown}.</p><p><a href="${pagesRoot}sign-in">Sign in again</a></p>`;
  return routePage({ title, body });
}
